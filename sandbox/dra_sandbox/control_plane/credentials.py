"""What signs in to a control plane: one token, known to its folder alone, and a key for service account tokens."""

from __future__ import annotations

import base64
import os
import secrets
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from dra_sandbox.control_plane.plane import ControlPlane, token_file

CONTEXT = "pulumi-dra"
"""Name of cluster, user and context in the kubeconfig."""


def make_credentials(folder: Path) -> str:
    """Write the list of tokens and the key into `folder`, for its owner alone, and return the token."""
    token = secrets.token_hex(32)
    _write(token_file(folder), f"{token},pulumi-dra,pulumi-dra,system:masters\n".encode())
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    _write(
        folder / "accounts.key",
        key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()),
    )
    return token


def write_kubeconfig(plane: ControlPlane) -> None:
    """Write the kubeconfig, once the API server has made its certificate."""
    certificate = base64.b64encode(plane.certificate.read_bytes()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [
            {"name": CONTEXT, "cluster": {"server": plane.server, "certificate-authority-data": certificate}}
        ],
        "users": [{"name": CONTEXT, "user": {"token": plane.token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
    }
    _write(plane.kubeconfig, yaml.safe_dump(document, sort_keys=False).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from its first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
