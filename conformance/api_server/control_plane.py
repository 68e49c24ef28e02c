"""etcd and a real kube-apiserver on free loopback ports, for as long as a `with` block lasts."""

from __future__ import annotations

import ctypes
import http.client
import secrets
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from builds import ETCD, api_server

from dra_sandbox.tools import build

_HERE: Final = "127.0.0.1"
_PATIENCE: Final = 120  # seconds until a server must be ready, on a busy machine
_DIE_WITH_PARENT: Final = 1  # prctl's PR_SET_PDEATHSIG


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """A server that answers: where it listens, who we are to it, and the certificate it shows."""

    minor: int
    version: str
    port: int
    token: str
    certificate: Path

    def connect(self, timeout: float = 60) -> http.client.HTTPSConnection:
        """Return a connection that trusts this server and no other."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        return http.client.HTTPSConnection(_HERE, self.port, timeout=timeout, context=context)


class NotReady(Exception):
    """A server did not come up; the message ends with what it wrote."""


@contextmanager
def control_plane(minor: int, gates: Mapping[str, bool] | None = None) -> Iterator[ControlPlane]:
    """Start an API server of 1.<minor> with these feature gates (others as released) and no webhooks; stop it after.

    Builds what is missing first. Raises NotReady, and ToolUnavailable where it cannot be built.
    """
    etcd, server = build(ETCD), build(api_server(minor))
    with tempfile.TemporaryDirectory(prefix="api-server-") as name, _stopped_on_signals():
        folder = Path(name)
        token = secrets.token_hex(16)
        (folder / "tokens.csv").write_text(f"{token},referee,referee,system:masters\n", encoding="utf-8")
        _make_key(folder / "accounts.key")
        client, peer, port = _free_ports(3)
        with (
            _running(_etcd_command(etcd, folder, client, peer), folder / "etcd.log"),
            _running(_server_command(server, folder, client, port, gates or {}), folder / "server.log") as process,
        ):
            plane = ControlPlane(
                minor, api_server(minor).version, port, token, folder / "certificates" / "apiserver.crt"
            )
            _wait(plane, process, folder / "server.log")
            yield plane


def _etcd_command(binary: Path, folder: Path, client: int, peer: int) -> list[str]:
    here, others = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    return [
        str(binary), "--unsafe-no-fsync", f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={here}", f"--advertise-client-urls={here}",
        f"--listen-peer-urls={others}", f"--initial-advertise-peer-urls={others}",
        f"--initial-cluster=default={others}",
    ]  # fmt: skip


def _server_command(binary: Path, folder: Path, etcd: int, port: int, gates: Mapping[str, bool]) -> list[str]:
    key = folder / "accounts.key"
    command = [
        str(binary), f"--etcd-servers=http://127.0.0.1:{etcd}", "--bind-address=127.0.0.1", f"--secure-port={port}",
        f"--cert-dir={folder / 'certificates'}", f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
        "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}", "--disable-admission-plugins=ServiceAccount",
        "--watch-cache=false",
    ]  # fmt: skip
    if gates:
        command.append("--feature-gates=" + ",".join(f"{name}={str(on).lower()}" for name, on in gates.items()))
    return command


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server while the block lasts; it also ends when we are killed."""
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, preexec_fn=_die_with_parent) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


@contextmanager
def _stopped_on_signals() -> Iterator[None]:
    """Turn a request to end into an exception, so that the servers are stopped on the way out."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _wait(plane: ControlPlane, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server is ready; raise NotReady when it ended or took too long."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise NotReady(f"kube-apiserver {plane.version} ended with status {process.returncode}: {_tail(log)}")
        if plane.certificate.exists() and _is_ready(plane):
            return
        time.sleep(0.2)
    raise NotReady(f"kube-apiserver {plane.version} was not ready within {_PATIENCE} s: {_tail(log)}")


def _is_ready(plane: ControlPlane) -> bool:
    """Ready, and the namespace and the priorities that the server makes itself are there."""
    paths = ("/readyz", "/api/v1/namespaces/default", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")
    try:
        connection = plane.connect(timeout=5)
        for path in paths:
            connection.request("GET", path, headers={"Authorization": f"Bearer {plane.token}"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != HTTPStatus.OK:
                return False
    except (http.client.HTTPException, OSError):
        return False
    return True


def _tail(log: Path) -> str:
    return "\n" + "\n".join(log.read_text("utf-8", "replace").splitlines()[-15:])


def _free_ports(count: int) -> list[int]:
    """Return ports nobody listens on; held all at once, so that they differ."""
    held = [socket.create_server((_HERE, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def _make_key(path: Path) -> None:
    """Write a private key for service account tokens, which nobody asks for here."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
