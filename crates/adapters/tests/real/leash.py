"""Runs a server for as long as somebody holds the other end of its standard input.

Usage: leash.py PORT PROGRAM ARGUMENT...

Says `listening` when something listens at the port; whatever the server says goes to standard error. A test that
panics or is killed lets go as well, so no server outlives its tests.
"""

import socket
import subprocess
import sys
import threading
import time

POLL = 0.05
PATIENCE = 5


def end_when_let_go(server: subprocess.Popen) -> None:
    sys.stdin.buffer.read()
    server.terminate()
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()


def wait_for(port: int, server: subprocess.Popen) -> None:
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), PATIENCE).close()
        except OSError:
            time.sleep(POLL)
        else:
            print("listening", flush=True)
            return


if __name__ == "__main__":
    running = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=sys.stderr)
    threading.Thread(target=end_when_let_go, args=(running,), daemon=True).start()
    wait_for(int(sys.argv[1]), running)
    sys.exit(running.wait())
