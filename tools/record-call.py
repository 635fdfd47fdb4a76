#!/usr/bin/env python3
"""Records a video call between two headless Chromiums over a path that `weir emulate` emulates.

usage: tools/record-call.py --scenario FILE [--seconds N] [--out DIR] [--name NAME] [--weir PATH]
                            [--beside-tcp FROM..TO] [--size 1280x720] [--max-bitrate BPS] [--setup SECONDS]
                            [--force-fieldtrials TRIALS] [--degradation maintain-resolution] [--no-noise]

It needs Linux, Chromium and the rights of `weir emulate`. Times of the scenario and of --beside-tcp count from the
begin of the call. It writes NAME.rtclog (the sender's event log), NAME-stats.csv (`getStats` of both ends once a
second) and NAME.json (path, version, field trials, whether the call counts).

Exit codes: 0 a call that counts, 2 wrong input or a machine that lacks something, 3 a call that does not count.
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from pathlib import Path

sys.dont_write_bytecode = True  # after sudo it would belong to root

from record_call.browser import FLAGS, BrowserPipe, RecordingError, find_browser
from record_call.clip import FRAMES, write_clip

HOME = Path(__file__).resolve().parent / "record_call"

# Columns of NAME-stats.csv behind `t_s`, by end and group; names of W3C webrtc-stats.
COLUMNS = {
    "A": {
        "pair": "availableOutgoingBitrate currentRoundTripTime bytesSent bytesReceived",
        "out": "bytesSent headerBytesSent retransmittedBytesSent qualityLimitationReason totalEncodeTime framesEncoded "
        "nackCount pliCount totalPacketSendDelay packetsSent framesPerSecond frameWidth frameHeight targetBitrate "
        "encoderImplementation qpSum",
        "remoteIn": "roundTripTime packetsLost jitter fractionLost",
    },
    "B": {
        "pair": "currentRoundTripTime bytesSent bytesReceived",
        "in": "bytesReceived packetsReceived packetsLost framesPerSecond frameWidth frameHeight framesDecoded jitter "
        "freezeCount totalFreezesDuration jitterBufferDelay jitterBufferEmittedCount",
    },
}
LOG_PERIOD_S = 5  # after which the browser writes the next part of the event log
# The call counts if the sender encodes so many pictures a second in so large a share of the seconds. Not counted are
# the first seconds and those of falls: while the encoder waits for the pacer, its rate says nothing of the processor.
LEAST_FRAMES, LEAST_SHARE, FIRST_S = 25, 0.95, 5
# A fall is one of the estimate, as `weir explain-call` lists them: until it is back, and no longer than this.
FALL, BACK, LONGEST_FALL_S = 0.85, 0.9, 20
MEDIA_FLAGS = [
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
]


def seconds(text):
    """A time of a scenario, in seconds."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ns|us|ms|s|min|h)", str(text))
    if not found:
        raise RecordingError(f"`{text}` is no time, such as `20s`")
    return float(found[1]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}[found[2]]


def scenario_of(path):
    """The scenario of a file, with a table of flows."""
    try:
        with open(path, "rb") as file:
            scenario = tomllib.load(file)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RecordingError(f"{path} is no scenario in TOML: {error}") from error
    flows = scenario.get("flows")
    if not (isinstance(flows, dict) and flows and all(isinstance(flow, dict) for flow in flows.values())):
        raise RecordingError(f"{path} has no table of flows, such as [flows.video]")
    return scenario


def as_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {as_toml(own)}" for key, own in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value)


def later(value, setup, folder):
    """Links whose steps and changes come later by `setup` seconds; paths of traces made absolute."""
    if isinstance(value, list):
        return [later(own, setup, folder) for own in value]
    if not isinstance(value, dict):
        return value
    moved = {key: later(own, setup, folder) for key, own in value.items()}
    if "at" in moved and seconds(moved["at"]) > 0:
        moved["at"] = f"{seconds(moved['at']) + setup:.9f}s"
    for key in ("trace", "fallback"):
        if "/" in str(moved.get(key, "")):
            moved[key] = str((folder / moved[key]).resolve())
    return moved


def path_scenario(scenario, setup, length, folder):
    """The scenario for `weir emulate`: the links, and a flow on the path of the first one."""
    of_network = ("links", "dumbbell", "cells", "multipath")
    own = {key: later(scenario[key], setup, folder) for key in of_network if key in scenario}
    flow = next(iter(scenario["flows"].values()))
    keys = ("from", "to", "route", "reverse_route", "access_delay", "five_tuple")
    # Of a flow with copies the first one.
    number = str(flow.get("first", 1))
    of_path = {key: json.loads(json.dumps(flow[key]).replace("#", number)) for key in keys if key in flow}
    own["flows"] = {"video": {"kind": "media", "controller": "gcc"} | of_path}
    own |= {"title": "path of a recorded call", "duration": f"{setup + length:.3f}s"}
    return "".join(f"{key} = {as_toml(value)}\n" for key, value in own.items())


def give_to_caller(*paths):
    """After sudo files belong to the user who called, as whom the ends run."""
    if os.geteuid() == 0 and "SUDO_UID" in os.environ:
        owner = int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"])
        for path in paths:
            os.chown(path, *owner)


class CallRecording:
    """A call from its path to its files."""

    def __init__(self, options, scenario, folder):
        self.options, self.scenario, self.folder = options, scenario, folder
        self.listeners = {name: self.listen(name) for name in self.names()}
        self.tcp, self.rows, self.facts = [], [], {}

    @staticmethod
    def names():
        return [f"{end}.{kind}" for end in ("near", "far") for kind in ("control", "pipe")]

    def listen(self, name):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{self.folder}/{name}")
        listener.listen(1)
        return listener

    def accept(self, name):
        self.listeners[name].settimeout(0.2)
        end = time.monotonic() + 20
        while time.monotonic() < end and self.weir.poll() is None:
            try:
                stream = self.listeners[name].accept()[0]
                stream.settimeout(None)
                return stream
            except TimeoutError:
                continue
        problem = (self.folder / "weir.txt").read_text(errors="replace").strip().splitlines()
        sentence = problem[0].removeprefix("error: ").strip("× ") if problem else "no answer"
        raise RecordingError(f"`weir emulate` did not start the browsers: {sentence}")

    def end_command(self, end, *flags):
        """The command of an end, inside of its namespace."""
        if self.options.force_fieldtrials:
            flags += (f"--force-fieldtrials={self.options.force_fieldtrials}",)
        profile = f"--user-data-dir={self.folder}/{end}-profile"
        command = [self.options.browser, *FLAGS, *MEDIA_FLAGS, profile, *flags, "about:blank"]
        return [sys.executable, str(HOME / "end.py"), end, str(self.folder), *command]

    def run(self):
        options, folder = self.options, self.folder
        width, height = options.size
        print(f"The clip is made: {FRAMES} pictures of {width}x{height}.", flush=True)
        write_clip(folder / "clip.y4m", width, height, not options.no_noise)
        shutil.copyfile(HOME / "page.html", folder / "page.html")
        (folder / "logs").mkdir()
        path = path_scenario(self.scenario, options.setup, options.seconds, options.scenario.resolve().parent)
        (folder / "path.toml").write_text(path, encoding="utf-8")
        near = self.end_command(
            "near", f"--use-file-for-fake-video-capture={folder}/clip.y4m", f"--webrtc-event-logging={folder}/logs"
        )
        # `exec` keeps the process, and with it the time of its start.
        far = "exec " + " ".join("'" + part.replace("'", "'\\''") + "'" for part in self.end_command("far"))
        give_to_caller(folder, *folder.iterdir())
        emulate = [options.weir, "emulate", str(folder / "path.toml"), "--json", "--far", far, "--", *near]
        with open(folder / "weir.txt", "wb") as errors, open(folder / "weir.json", "wb") as report:
            self.weir = subprocess.Popen(emulate, stdin=subprocess.DEVNULL, stdout=report, stderr=errors)
        try:
            self.hold_call()
            self.weir.wait(timeout=20)
        except subprocess.TimeoutExpired as error:
            raise RecordingError("`weir emulate` did not end within 20 s after the call") from error
        finally:
            self.stop()
        self.facts["emulation"] = json.loads((folder / "weir.json").read_text().splitlines()[-1])

    def stop(self):
        """The second signal kills the browser, if the emulation still runs."""
        for _ in range(2):
            if self.weir.poll() is None:
                self.weir.send_signal(signal.SIGINT)
                time.sleep(1)
        if self.weir.poll() is None:
            self.weir.kill()

    def hold_call(self):
        options = self.options
        far_control = self.accept("far.control").makefile("r", encoding="utf-8")
        # The emulator's clock starts just before the program at the far end.
        from_boot = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
        begin = json.loads(far_control.readline())["started"] - from_boot + options.setup
        threading.Thread(target=self.read_tcp, args=(far_control, begin), daemon=True).start()
        near = self.accept("near.control")
        near_control, commands = (near.makefile(mode, encoding="utf-8") for mode in "rw")
        near_control.readline()
        threading.Thread(target=self.read_tcp, args=(near_control, begin), daemon=True).start()
        sender, receiver = (BrowserPipe(self.accept(f"{end}.pipe")) for end in ("near", "far"))
        version, trials = sender.version()
        self.facts |= {"browser": version, "field_trials": trials}
        print(f"Browser: {version}; field trials: {self.facts['field_trials'] or 'none'}", flush=True)
        for browser in (sender, receiver):
            browser.open(f"file://{self.folder}/page.html")
        offer = sender.evaluate("offer({}, {})".format(*options.size))
        answer = receiver.evaluate(f"answer({json.dumps(offer)})")
        if (late := time.monotonic() - begin) > 0:
            raise RecordingError(f"the browsers were ready {late:.1f} s too late; use a longer --setup")
        time.sleep(begin - time.monotonic())
        wanted = json.dumps(options.degradation)
        preference = sender.evaluate(f"connect({json.dumps(answer)}, {options.max_bitrate}, {wanted})")
        if options.degradation and preference != options.degradation:
            raise RecordingError(f"the browser does not accept the degradation preference {options.degradation}")
        self.facts |= {
            "connected_s": round(time.monotonic() - begin, 3),
            "log_us_at_0": round(begin * 1e6),
        }
        print(f"The call is connected at {self.facts['connected_s']} s.", flush=True)
        tcp = options.beside_tcp
        while (now := time.monotonic() - begin) < options.seconds:
            if tcp and now >= tcp[0]:
                commands.write(f"{tcp[1] - now}\n")
                commands.flush()
                tcp = None
            self.read_statistics(sender, receiver, begin)
            if problem := next((line["error"] for line in self.tcp if "error" in line), None):
                raise RecordingError(problem)
            now = time.monotonic() - begin
            goal = int(now) + 1
            if tcp and now < tcp[0] < goal:
                goal = tcp[0]
            time.sleep(max(min(goal, options.seconds) - now, 0))
        # What the browser has not written when the call is closed is lost.
        time.sleep(LOG_PERIOD_S + 0.5)
        for browser in (sender, receiver):
            browser.evaluate("call.close()")
        time.sleep(1)
        for browser in (receiver, sender):
            browser.call("Browser.close")

    def read_statistics(self, sender, receiver, begin):
        row = {"t_s": round(time.monotonic() - begin, 3)}
        for end, browser in (("A", sender), ("B", receiver)):
            found = browser.evaluate("statistics()")
            for group, names in COLUMNS[end].items():
                row |= {f"{end}.{group}.{name}": found[group].get(name, "") for name in names.split()}
        self.rows.append(row)

    def read_tcp(self, lines, begin):
        for line in lines:
            self.tcp.append({"t_s": round(time.monotonic() - begin, 1)} | json.loads(line))

    def problems(self):
        """Why the call does not count; empty for one that does."""
        found = [f"the emulation: {reason}" for reason in self.facts["emulation"]["inconclusive"]]
        counted, enough, last, falls = 0, 0, 0, []
        for row in self.rows:
            now, estimate = row["t_s"], row["A.pair.availableOutgoingBitrate"] or 0
            if estimate < FALL * last:
                falls.append((now, BACK * last))
            last = estimate
            falls = [(at, goal) for at, goal in falls if estimate < goal and now - at < LONGEST_FALL_S]
            if now >= FIRST_S and not falls:
                counted += 1
                enough += (row["A.out.framesPerSecond"] or 0) >= LEAST_FRAMES
        share = enough / counted if counted else 0
        by_processor = sum(row["A.out.qualityLimitationReason"] == "cpu" for row in self.rows)
        self.facts["frame_rate"] = {"seconds": counted, "share": round(share, 3), "limited_by_cpu_s": by_processor}
        if counted == 0:
            found.append("it has no second outside of falls to judge it by; record a longer one")
        elif share < LEAST_SHARE:
            found.append(
                f"outside of falls the sender encoded {LEAST_FRAMES} pictures/s in {100 * share:.0f} % of {counted} "
                f"seconds, not in {100 * LEAST_SHARE:.0f} %; use an idle machine or a smaller --size"
            )
        return found

    def write(self):
        out, name = self.options.out, self.options.name
        out.mkdir(parents=True, exist_ok=True)
        logs = sorted((self.folder / "logs").iterdir(), key=lambda log: log.stat().st_size)
        if not logs:
            raise RecordingError("the browser wrote no event log")
        shutil.copyfile(logs[-1], out / f"{name}.rtclog")
        with open(out / f"{name}-stats.csv", "w", newline="", encoding="utf-8") as table:
            writer = csv.DictWriter(table, list(self.rows[-1]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        problems = self.problems()
        kept = {key: self.scenario[key] for key in ("title", "links", "dumbbell") if key in self.scenario}
        options = self.options
        facts = {
            "scenario": kept,
            "seconds": options.seconds,
            "clip": "{}x{}".format(*options.size) + (" without noise" if options.no_noise else ""),
            "max_bitrate": options.max_bitrate,
            "degradation": options.degradation,
            "beside_tcp": options.beside_tcp,
            "tcp": self.tcp,
            **self.facts,
            "inconclusive": problems,
        }
        (out / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        give_to_caller(*(out / f"{name}{end}" for end in (".rtclog", "-stats.csv", ".json")))
        print(f"Written: {out / name}.rtclog, {name}-stats.csv, {name}.json.")
        for problem in problems:
            print(f"The call does not count: {problem}.", file=sys.stderr)
        return 3 if problems else 0


def pair(separator, kind):
    def parse(text):
        first, found, second = text.partition(separator)
        if not found:
            raise argparse.ArgumentTypeError(f"must be two numbers with `{separator}` between them")
        return kind(first), kind(second)

    return parse


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", type=Path, required=True, help="scenario with the links of the path")
    parser.add_argument("--seconds", type=float, help="length of the call [default: the scenario's duration]")
    parser.add_argument("--out", type=Path, default=Path(), help="directory of the files")
    parser.add_argument("--name", help="name of the files [default: that of the scenario file]")
    parser.add_argument("--weir", default="weir", help="the command `weir`")
    parser.add_argument("--beside-tcp", type=pair("..", float), help="times of a CUBIC flow in seconds, such as 15..45")
    parser.add_argument("--size", type=pair("x", int), default=(1280, 720), help="pictures of the clip")
    parser.add_argument("--no-noise", action="store_true", help="clip without noise")
    parser.add_argument("--max-bitrate", type=int, default=2_900_000, help="highest rate of the encoder in bit/s")
    parser.add_argument("--setup", type=float, default=20, help="seconds that the browsers have to start")
    parser.add_argument("--force-fieldtrials", help="field trials for both browsers, such as Name/Group/")
    parser.add_argument("--degradation", help="degradation preference of the sender")
    options = parser.parse_args(arguments)
    if any(side < 16 or side % 2 for side in options.size):
        raise RecordingError("the sides of --size must be even and at least 16")
    options.browser = find_browser()
    if not options.browser:
        raise RecordingError("there is no Chromium; on Debian install it by `apt-get install chromium`")
    if not shutil.which(options.weir):
        raise RecordingError(f"there is no command `{options.weir}`; name it by --weir")
    return options


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        options = options_of(sys.argv[1:])
        scenario = scenario_of(options.scenario)
        if options.seconds is None:
            if "duration" not in scenario:
                raise RecordingError(f"{options.scenario} has no duration; give --seconds")
            options.seconds = seconds(scenario["duration"])
        options.name = options.name or options.scenario.stem
        with tempfile.TemporaryDirectory(prefix="record-call-", ignore_cleanup_errors=True) as folder:
            recording = CallRecording(options, scenario, Path(folder))
            recording.run()
            return recording.write()
    except (RecordingError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ended before the call was recorded", file=sys.stderr)
        return 2
    except KeyError as error:
        print(f"error: an answer of the browser or of the emulator has no {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
