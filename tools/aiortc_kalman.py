#!/usr/bin/env python3
"""What aiortc's arrival-time filter and over-use detector say of a made-up path.

    python3 -m venv /tmp/aiortc && /tmp/aiortc/bin/pip install --no-deps aiortc==1.16.0
    /tmp/aiortc/bin/python tools/aiortc_kalman.py > crates/weir-cc/src/gcc/blocks/aiortc_kalman.txt

Of aiortc (BSD-3-Clause) only `aiortc.rate` is run, an independent Python port of libwebrtc's two-state Kalman filter.
`crates/weir-cc/src/gcc/blocks/aiortc_kalman.rs` makes up the same path, in the same whole numbers, and compares.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
import types

FRAMES = 1600
# 1/512 s in ns: exact as a send time of 2^-18 s and in ns.
TICK = 1_953_125
TICKS_PER_FRAME = 16
EVERY = 8


def rate_module():
    """`aiortc.rate` without the rest of aiortc, which wants codecs."""
    package = types.ModuleType("aiortc")
    package.__path__ = list(importlib.util.find_spec("aiortc").submodule_search_locations)
    sys.modules["aiortc"] = package
    return importlib.import_module("aiortc.rate")


def packets():
    """Departure in ticks, arrival in ms, size in bytes."""
    seed, free, newest = 1, 0, 0

    def below(n):
        nonlocal seed
        seed = (1_664_525 * seed + 1_013_904_223) % 2**32
        return (seed >> 16) % n

    for frame in range(FRAMES):
        # Bytes per ms: now and then too little for frames of 3200 bytes each 31.25 ms.
        capacity = 90 if frame % 500 in range(300, 350) else 125
        count = 1 + below(4)
        size = (2400 + below(1601)) // count
        for n in range(count):
            departure = TICKS_PER_FRAME * frame + n
            free = max(free, departure * TICK) + size * 1_000_000 // capacity
            newest = max(newest, (free + 25_000_000 + below(4_000_000)) // 1_000_000)
            yield departure, newest, size


def main():
    rate = rate_module()
    usage = {"NORMAL": 0, "UNDERUSING": -1, "OVERUSING": 1}
    whole = rate.RemoteBitrateEstimator()
    print(f"# aiortc {importlib.metadata.version('aiortc')}, aiortc.rate, by tools/aiortc_kalman.py: each {EVERY}th sample's")
    print("# number, offset in ms, slope in ms per byte, noise variance in ms^2, threshold in ms, usage")
    samples = 0
    for departure, arrival, size in packets():
        before = whole.estimator.slope, whole.estimator.offset(), whole.estimator.ts_delta_hist[:]
        whole.add(arrival, (departure << 9) % 2**24, size, 1)
        after = whole.estimator.slope, whole.estimator.offset(), whole.estimator.ts_delta_hist
        if before == after:
            continue
        samples += 1
        if samples % EVERY == 0:
            estimator, detector = whole.estimator, whole.detector
            print(
                f"{samples} {estimator.offset():.12g} {estimator.slope:.12g} {estimator.var_noise:.12g} "
                f"{detector.threshold:.12g} {usage[detector.state().name]}"
            )


if __name__ == "__main__":
    main()
