"""Ports where a daemon listens whenever it is started: while it is away, nobody else gets them."""

import socket

_RESERVED = []  # As long as this process lives.


def reserve():
    """A HOST:PORT that the kernel gives nobody who asks for any port. The socket that keeps it does
    not listen: so who asks for this one gets it."""
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    _RESERVED.append(kept)
    return f"127.0.0.1:{kept.getsockname()[1]}"
