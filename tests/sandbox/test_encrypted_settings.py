"""The sandbox removes the encryption settings of another backend from stack settings."""

from __future__ import annotations

import pytest
import yaml

from dra_sandbox.encrypted_settings import PLACEHOLDER, without_encryption


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("encryptionsalt: v1:a\nconfig: {a:b: c}\n", {"config": {"a:b": "c"}}),
        (
            "secretsprovider: awskms://alias/k\nencryptedkey: AQ\nconfig: {a:b: c}\n",
            {"config": {"a:b": "c"}},
        ),
        ("config:\n  a:b:\n    secure: v1:x\n", {"config": {"a:b": PLACEHOLDER}}),
        (
            "config:\n  a:b:\n    deep: [{secure: v1:x}, 1]\n",
            {"config": {"a:b": {"deep": [PLACEHOLDER, 1]}}},
        ),
        (
            "config: {a:b: {secure: true, other: 1}}\n",
            {"config": {"a:b": {"secure": True, "other": 1}}},
        ),
    ],
    ids=["passphrase", "cloud key", "secret", "secret in a value", "a custom key with this name"],
)
def test_encryption_is_removed_from_settings(text: str, expected: dict[str, object]) -> None:
    assert yaml.safe_load(without_encryption(text.encode())) == expected


@pytest.mark.parametrize("text", ["# kept\nconfig: {a:b: c}\n", "secure: [\n", ""])
def test_other_text_is_unchanged(text: str) -> None:
    assert without_encryption(text.encode()) == text.encode()
