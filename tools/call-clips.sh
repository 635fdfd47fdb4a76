#!/usr/bin/env bash
# Makes the clips of `weir call`: the same five seconds of generated video at six rates, VP8 in IVF, 640x360, 30 pictures/s, a key
# frame a second. The last picture leads on to the first. Needs ffmpeg with libvpx; encoders of other versions write other bytes.
#
#   tools/call-clips.sh [DIR]     weir-call/clips unless said
set -euo pipefail
out=${1:-$(cd "$(dirname "$0")/.." && pwd)/weir-call/clips}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Waves that stand, a bright band and a disc that go round in five seconds: the disc shows each stall. Noise that differs from picture
# to picture makes the clips of the higher rates need them.
turn='(2*PI*T/5)'
disc="hypot(X-320-220*cos($turn),Y-180-110*sin(2*$turn))"
band="25*exp(-pow((X-320-280*cos($turn))/60,2))"
waves="110+40*sin(X/57)*cos(Y/49)+5*sin((X+Y)/9)+$band"
picture="geq=lum='if(lt($disc,42),225-2*$disc,$waves)':cb='128+40*sin(X/90)':cr='128+40*cos(Y/70)'"
ffmpeg -nostdin -v error -f lavfi -i "color=s=640x360:r=30:d=5" -vf "$picture,format=yuv420p" -f yuv4mpegpipe "$work/clip.y4m"

mkdir -p "$out"
# At a constant rate, with key frames of at most three frames' share; the third round is kept, in which the encoder has settled.
encode() {
    ffmpeg -nostdin -v error -y -stream_loop 2 -i "$work/clip.y4m" -vf "$2" -c:v libvpx \
        -b:v "${1}k" -minrate "${1}k" -maxrate "${1}k" -bufsize "${1}k" -max-intra-rate 300 \
        -g 30 -keyint_min 30 -force_key_frames 'expr:eq(mod(n,30),0)' -auto-alt-ref 0 -lag-in-frames 0 -error-resilient 1 \
        -deadline good -cpu-used 3 -threads 1 -fflags +bitexact -flags:v +bitexact -f ivf "$work/rounds.ivf"
    ffmpeg -nostdin -v error -y -ss 10 -i "$work/rounds.ivf" -c copy -fflags +bitexact -f ivf "$out/${1}k.ivf"
}
noise() { echo "noise=c0s=$1:c0f=t:all_seed=1"; }
encode 100 null
encode 200 null
encode 400 null
encode 700 "$(noise 3)"
encode 1100 "$(noise 5)"
encode 1700 "$(noise 8)"
ls -l "$out"
