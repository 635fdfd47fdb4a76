"""Controllers as classes, for tests: in a module, so that other processes can import them."""

import numpy as np


class Aimd:
    """Increases additively, and halves on loss."""

    version = "1"

    def __init__(self, limits, seed, step=20e3):
        self.rate, self.step, self.seed = limits.start, step, seed

    def on_feedback(self, now, feedback):
        self.rate = self.rate / 2 if feedback.lost.any() else self.rate + self.step
        self.rate = min(max(self.rate, 50e3), 5e6)
        return self.rate


class Recording:
    """Keeps what it is given."""

    seen = []

    def __init__(self, limits, seed):
        self.limits, self.seed = limits, seed
        Recording.seen.append((self, []))

    def on_feedback(self, now, feedback):
        Recording.seen[-1][1].append((now, feedback))
        return self.limits.start


class ReceiveRate:
    """An estimator with AlphaRTC's interface: 1.2 times the rate of the last second, less with delay."""

    def __init__(self):
        self.packets, self.base = [], None

    def report_states(self, stats):
        self.packets.append(stats)

    def get_estimated_bandwidth(self):
        last = self.packets[-1]["arrival_time_ms"]
        self.packets = [packet for packet in self.packets if packet["arrival_time_ms"] > last - 1000]
        delays = [packet["arrival_time_ms"] - packet["send_time_ms"] for packet in self.packets]
        self.base = min(delays + ([self.base] if self.base is not None else []))
        bits = 8 * sum(packet["payload_size"] for packet in self.packets)
        factor = 1.2 if np.mean(delays[-20:]) < self.base + 30 else 0.85
        return int(max(factor * bits, 100e3))
