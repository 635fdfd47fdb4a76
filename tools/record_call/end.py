#!/usr/bin/env python3
"""The program of an end of a recorded call, in a namespace of `weir emulate`.

usage: end.py near|far FOLDER BROWSER [FLAG ...]     FOLDER has the sockets of the recorder
"""

import json
import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True  # after sudo it would belong to root

from browser import put_pipe

TCP_PORT = 5201


def run_end(end, folder, command):
    """The program of an end: starts Chromium with its pipe at a socket of the recorder, and TCP on command."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    except OSError:
        pass  # without the right the browser runs at the usual priority
    control = connected(f"{folder}/{end}.control")
    lines = control.makefile("w", encoding="utf-8")
    if end == "far":
        # `weir emulate` starts the near end once this one listens.
        listener = socket.create_server(("", TCP_PORT))
        threading.Thread(target=receive_tcp, args=(listener, lines), daemon=True).start()
    tell(lines, {"started": process_start()})
    pipe = connected(f"{folder}/{end}.pipe")
    os.environ["HOME"] = folder
    browser = os.fork()
    if browser == 0:
        put_pipe(pipe.fileno())
        os.execvp(command[0], command)
    if end == "near":
        threading.Thread(target=send_tcp, args=(control.makefile("r", encoding="utf-8"), lines), daemon=True).start()
    return os.waitstatus_to_exitcode(os.waitpid(browser, 0)[1])


def connected(path):
    stream = socket.socket(socket.AF_UNIX)
    stream.connect(path)
    return stream


def process_start():
    """Start of this process on the clock that counts from the boot, in seconds; exact to 10 ms."""
    fields = Path("/proc/self/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def send_tcp(commands, lines):
    """Sends with the kernel's CUBIC as long as a command of the recorder says, in seconds."""
    for command in commands:
        end = time.monotonic() + float(command)
        try:
            send_until(end)
        except OSError as error:
            tell(lines, {"error": f"the CUBIC flow failed: {error.strerror}"})


def send_until(end):
    with socket.socket() as stream:
        try:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        except PermissionError as error:
            problem = "without root it must be in net.ipv4.tcp_allowed_congestion_control"
            raise OSError(error.errno, problem) from error
        # A reset at the end: nothing of the transfer crosses the link afterwards.
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.connect((os.environ["WEIR_FAR"], TCP_PORT))
        block = bytes(16384)
        while (left := end - time.monotonic()) > 0:
            stream.settimeout(left)
            try:
                stream.send(block)
            except TimeoutError:
                break


def tell(lines, message):
    lines.write(json.dumps(message) + "\n")
    lines.flush()


def receive_tcp(listener, lines):
    """Reads what arrives, and tells the recorder the bytes of each second."""
    while True:
        stream, _ = listener.accept()
        received, since = 0, time.monotonic()
        try:
            while block := stream.recv(65536):
                received += len(block)
                if (now := time.monotonic()) - since >= 1:
                    tell(lines, {"bits_per_second": round(8 * received / (now - since))})
                    received, since = 0, now
        except ConnectionError:
            pass


if __name__ == "__main__":
    sys.exit(run_end(sys.argv[1], sys.argv[2], sys.argv[3:]))
