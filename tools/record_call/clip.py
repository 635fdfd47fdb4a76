"""The clip that the sender's camera shows."""

import random
from operator import itemgetter

FRAMES = 90  # of the clip, which is shown in a loop


def write_clip(path, width, height, noisy=True):
    """A clip (Y4M): a zoom into a texture with edges of all sizes, with noise that differs in each picture if `noisy`."""
    noise_of = random.Random(1)
    mask = int.from_bytes((b"\x03" if noisy else b"\x00") * width, "big")
    # No sum of texture and noise exceeds a byte, so a whole row is added as one integer.
    texture = [bytes(96 + ((x ^ y) >> 2 & 63) for x in range(width)) for y in range(height)]
    colours = [bytes(64 + ((x + shift) // 4 & 127) for x in range(width // 2)) for shift in range(128)]
    with open(path, "wb") as clip:
        clip.write(f"YUV4MPEG2 W{width} H{height} F30:1 Ip A1:1 C420jpeg\n".encode())
        for frame in range(FRAMES):
            zoom = 1 - 0.4 * abs(frame / FRAMES * 2 - 1)
            pick = itemgetter(*(int(x * zoom) for x in range(width)))
            rows = {}
            clip.write(b"FRAME\n")
            for y in range(height):
                source = int(y * zoom)
                if source not in rows:
                    rows[source] = int.from_bytes(bytes(pick(texture[source])), "big")
                noise = noise_of.getrandbits(8 * width) & mask
                clip.write((rows[source] + noise).to_bytes(width, "big"))
            for plane in (1, 2):
                for y in range(height // 2):
                    clip.write(colours[(y + frame * plane) % len(colours)])
