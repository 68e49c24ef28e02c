"""TLS connections to API servers, whose sockets are always closed."""

from __future__ import annotations

import ssl


class ForgottenSocket(ssl.SSLSocket):
    """A socket that closes when its last reference is released, for example by its thread, its
    ApiServer, or an error.

    `ssl` doesn't close a socket if the server resets the connection between accepting it and the
    handshake, as a starting or stopping server does (cpython:Lib/ssl.py@v3.11.7,
    SSLSocket._create).
    """

    def __del__(self) -> None:
        self.close()


def tls_context(authority_file: str | None = None, authority: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the certificates of a file or PEM text.

    If neither is given, it trusts the system's certificates.
    """
    context = ssl.create_default_context(cafile=authority_file, cadata=authority)
    context.sslsocket_class = ForgottenSocket
    return context
