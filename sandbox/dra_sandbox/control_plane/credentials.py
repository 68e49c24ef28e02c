"""Credentials of a control plane: one token that only its folder contains, the certificate of its
API server, and a key for service account tokens.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import os
import secrets
from pathlib import Path
from typing import Final

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dra_sandbox.control_plane.plane import (
    ControlPlane,
    serving_certificate,
    serving_key,
    token_file,
)

CONTEXT: Final = "pulumi-dra"
"""Name of the cluster, user, and context in the kubeconfig."""

_VALID: Final = datetime.timedelta(days=3650)
# allowed difference between this clock and the clock of the process that checks the certificate
_SKEW: Final = datetime.timedelta(days=1)


def make_credentials(folder: Path) -> str:
    """Write the token list, the certificate, and the keys into `folder`, readable only by the
    owner, and return the token.
    """
    token = secrets.token_hex(32)
    _write(token_file(folder), f"{token},pulumi-dra,pulumi-dra,system:masters\n".encode())
    _write(folder / "accounts.key", _as_pem(ec.generate_private_key(ec.SECP256R1())))
    key = ec.generate_private_key(ec.SECP256R1())
    _write(serving_key(folder), _as_pem(key))
    _write(serving_certificate(folder), _self_signed(key).public_bytes(serialization.Encoding.PEM))
    return token


def _as_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _self_signed(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    """Return a self-signed certificate for 127.0.0.1, so that clients don't need to trust another
    authority.
    """
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, CONTEXT)])
    now, own = (
        datetime.datetime.now(datetime.UTC),
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
    )
    addresses: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("kubernetes.default.svc")
    ]  # fmt: skip
    return (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now - _SKEW, now + _VALID
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_USAGE, critical=True)
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .add_extension(own, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier(own.digest, None, None), critical=False)
        .sign(key, hashes.SHA256())
    )


_USAGE: Final = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def write_kubeconfig(plane: ControlPlane) -> None:
    """Write the kubeconfig."""
    certificate = base64.b64encode(plane.certificate.read_bytes()).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [
            {
                "name": CONTEXT,
                "cluster": {"server": plane.server, "certificate-authority-data": certificate},
            }
        ],
        "users": [{"name": CONTEXT, "user": {"token": plane.token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
    }
    _write(plane.kubeconfig, yaml.safe_dump(document, sort_keys=False).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read at any time."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
