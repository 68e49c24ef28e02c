"""Read the API server from a kubeconfig that authenticates with a token or a client certificate."""

from __future__ import annotations

import base64
import http.client
import ssl
import tempfile
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dra_sandbox.control_plane.api import ApiServer
from dra_sandbox.control_plane.problems import ControlPlaneError
from dra_sandbox.control_plane.tls import tls_context

_PORT: Final = 443


def api_server_of(
    kubeconfig: Mapping[str, Any], context: str = "", folder: Path = Path()
) -> ApiServer:
    """Return the API server of a context in a kubeconfig, by default its current context. File
    paths in the kubeconfig are relative to `folder`.

    Raises ControlPlaneError if the context doesn't exist or authenticates in another way.
    """
    name = context or kubeconfig.get("current-context") or ""
    chosen = _named(kubeconfig, "contexts", "context", name)
    cluster = _named(kubeconfig, "clusters", "cluster", chosen.get("cluster", ""))
    user = _named(kubeconfig, "users", "user", chosen.get("user", ""))
    address = urllib.parse.urlsplit(cluster.get("server") or "")
    host, port = address.hostname or "", address.port or _PORT
    if address.scheme != "https" or not host:
        raise ControlPlaneError(f'the context "{name}" doesn\'t have a server at https://')
    authority = _content(cluster, "certificate-authority", folder)
    tls = tls_context(authority=authority.decode() if authority else None)
    headers: dict[str, str] = {}
    certificate, key = (
        _content(user, "client-certificate", folder),
        _content(user, "client-key", folder),
    )
    if user.get("token"):
        headers["Authorization"] = f"Bearer {user['token']}"
    elif certificate and key:
        _present(tls, certificate, key)
    else:
        raise ControlPlaneError(
            f'the context "{name}" doesn\'t have a token or a client certificate'
        )

    def connect(seconds: float) -> http.client.HTTPConnection:
        return http.client.HTTPSConnection(host, port, timeout=seconds, context=tls)

    return ApiServer(connect, headers)


def _named(kubeconfig: Mapping[str, Any], plural: str, kind: str, name: str) -> Mapping[str, Any]:
    for each in kubeconfig.get(plural) or []:
        if each.get("name") == name:
            found: Mapping[str, Any] = each.get(kind) or {}
            return found
    raise ControlPlaneError(f'the kubeconfig doesn\'t have a {kind} "{name}"')


def _content(holder: Mapping[str, Any], key: str, folder: Path) -> bytes:
    if holder.get(f"{key}-data"):
        return base64.b64decode(holder[f"{key}-data"])
    return (folder / holder[key]).read_bytes() if holder.get(key) else b""


def _present(tls: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load the client certificate. The SSL library can only read it from a file."""
    with tempfile.NamedTemporaryFile() as file:  # readable only by its owner
        file.write(certificate + b"\n" + key)
        file.flush()
        tls.load_cert_chain(file.name)
