#!/usr/bin/env python3
"""ready.py COMMAND...: starts a daemon as systemd does, waits until it says that it is ready
(sd_notify(3)), and ends it. The status is 0 if it does both within half a minute each."""

import os
import socket
import subprocess
import sys
import tempfile

READY_S = 30.0

with tempfile.TemporaryDirectory() as directory:
    path = os.path.join(directory, "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(path)
        told.settimeout(READY_S)
        daemon = subprocess.Popen(sys.argv[1:], env={**os.environ, "NOTIFY_SOCKET": path})
        try:
            said = told.recv(4096)
        except TimeoutError:
            said = b"nothing"
        finally:
            daemon.terminate()
            daemon.wait(READY_S)
sys.exit(0 if said == b"READY=1" else f"it said {said}")
