//! Prints the frame sizes of the synthetic talking head, as in `data/video/talking-head.txt`.

fn main() {
    println!("% Frame sizes of a made-up talking head, 30 frames/s: rates in kbit/s, then bytes per frame.");
    print!("{}", weir_media::FrameTraces::talking_head().to_text());
}
