"""Connections to API servers that break: no connection stays open, and the error names the request
that got no response.
"""

from __future__ import annotations

import gc
import http.client
import select
import socket
import struct
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from dra_sandbox.control_plane import ApiServer, ControlPlaneError
from dra_sandbox.control_plane.tls import tls_context

_RESET_WHEN_CLOSED = struct.pack("ii", 1, 0)


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """Start a server that accepts connections and calls `answer` for each one."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                accepted, _ = listening.accept()
            except OSError:
                return
            with accepted:
                answer(accepted)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


class ResetBeforeTheHandshake:
    """A server's side and a client's: the client has connected, the server resets, and then the
    client shakes hands.
    """

    def __init__(self) -> None:
        self._connected = threading.Semaphore(0)

    def answer(self, accepted: socket.socket) -> None:
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_WHEN_CLOSED)
        self._connected.acquire(timeout=5)

    def connect_to(self, address: tuple[str, int]) -> Callable[[float], http.client.HTTPConnection]:
        connected = self._connected

        class Connection(http.client.HTTPSConnection):
            # a tunnel is set up after the connection and before the handshake
            def _tunnel(self) -> None:
                connected.release()
                select.select([self.sock], [], [], 5)

        def connect(seconds: float) -> http.client.HTTPConnection:
            connection = Connection(*address, timeout=seconds, context=tls_context())
            connection.set_tunnel("unused")
            return connection

        return connect


def test_a_connection_reset_in_the_handshake_closes_its_socket() -> None:
    both = ResetBeforeTheHandshake()
    with server(both.answer) as address, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")

        with pytest.raises(
            ControlPlaneError, match=r"the API server doesn't answer GET /api: .*reset by peer"
        ):
            ApiServer(both.connect_to(address)).request("GET", "/api")

        gc.collect()
    assert [str(each.message) for each in seen] == []


@pytest.mark.parametrize(
    "words", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", b"no protocol\r\n"]
)
def test_an_interrupted_response_is_requested_again_once(words: bytes) -> None:
    asked: list[bytes] = []

    def half(accepted: socket.socket) -> None:
        asked.append(accepted.recv(65536))
        accepted.sendall(words)

    with server(half) as address, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")

        with pytest.raises(ControlPlaneError, match=r"doesn't answer GET /api"):
            ApiServer(
                lambda seconds: http.client.HTTPConnection(*address, timeout=seconds)
            ).request("GET", "/api")

        gc.collect()
    assert len(asked) == 2
    assert [str(each.message) for each in seen] == []
