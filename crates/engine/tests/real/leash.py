"""Runs a server for as long as somebody holds the other end of its standard input.

Usage: leash.py PROGRAM ARGUMENT...

A test that panics or is killed lets go as well, so no server outlives its tests.
"""

import subprocess
import sys
import threading

PATIENCE = 5


def end_when_let_go(server: subprocess.Popen) -> None:
    sys.stdin.buffer.read()
    server.terminate()
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    running = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    threading.Thread(target=end_when_let_go, args=(running,), daemon=True).start()
    sys.exit(running.wait())
