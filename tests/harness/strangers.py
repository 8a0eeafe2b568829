"""Who calls the daemons of a cluster without knowing how, or without being allowed to."""

import socket

from harness import raw_grpc

CALLS = 700  # More than one a second in the ten minutes that an alert looks at.


def call_all(cluster):
    """Each port of each daemon, and the coordinator CALLS times."""
    barrier = cluster.coordinator.addresses()["barrier"]
    for address in [barrier, *(w.addresses()["data"] for w in cluster.workers.values())]:
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=30) as stream:
            stream.sendall(b"GET / HTTP/1.1\r\n\r\n" + bytes(200))
            while stream.recv(4096):  # Until it is closed.
                pass
    for worker in cluster.workers.values():
        raw_grpc.call(worker.addresses()["images"], "/bspnow.proto.Images/ListImages")
    for _ in range(CALLS):
        raw_grpc.call(cluster.coordinator.addresses()["listen"], "/bspnow.proto.Jobs/ListJobs")
    refused = cluster.bsp("jobs", check=False,
                          variables={"BSP_LOGIN_SOCKET": cluster.path("no-login")})
    if refused.returncode == 0:
        raise AssertionError("a call without a token was answered")
