"""Run the process of an engine plugin, which prints its port, serves requests, and exits without
output.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent import futures

import grpc

# Plans and states are sent in a single message. gRPC's default limit is 4 MiB, and the engine's
# limit is 400 MiB.
CHANNEL_OPTIONS = [
    ("grpc.max_receive_message_length", 400 * 1024 * 1024),
    ("grpc.max_send_message_length", 400 * 1024 * 1024),
]


_LOOK_EVERY_SECONDS = 2.0


def serve(register: Callable[[grpc.Server], None], workers: int = 32) -> None:
    """Serve the services that `register` adds to the server.

    It listens on a free loopback port, which is printed as the first line. SIGINT and SIGTERM end
    the process without output, because the engine shows the output of plugins to the user. The
    process also ends with its parent process, so a killed engine doesn't leave plugins behind.
    """
    parent = os.getppid()
    stopped = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopped.set())
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=workers), options=CHANNEL_OPTIONS)
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while not stopped.wait(_LOOK_EVERY_SECONDS) and os.getppid() == parent:
        pass
    server.stop(grace=0).wait()
