"""TLS to API servers and to what stands beside them; their sockets leave nothing open behind."""

from __future__ import annotations

import ssl


class ForgottenSocket(ssl.SSLSocket):
    """A socket that closes when nothing holds it any more: with its thread, its ApiServer, or an
    error.

    `ssl` leaves one open behind its own error where the server resets a connection between
    accepting it and the handshake, as a server does that starts or stops
    (cpython:Lib/ssl.py@v3.11.7, SSLSocket._create).
    """

    def __del__(self) -> None:
        self.close()


def tls_context(authority_file: str | None = None, authority: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the certificates of a file or of a PEM text, those of the system
    without either.
    """
    context = ssl.create_default_context(cafile=authority_file, cadata=authority)
    context.sslsocket_class = ForgottenSocket
    return context
