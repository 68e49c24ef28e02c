"""Remove the encryption from stack settings, because the simulated backend has its own key, and
can't read the secrets of another backend.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

_ENCRYPTION: Final = ("encryptionsalt", "encryptedkey", "secretsprovider")
PLACEHOLDER: Final = "simulated-secret"
"""Value that replaces each secret."""


def without_encryption(text: bytes) -> bytes:
    """Return stack settings without the key of their secrets, and with placeholders instead of
    secrets. Other text is returned unchanged.
    """
    if not any(f"{key}:".encode() in text for key in (*_ENCRYPTION, "secure")):
        return text
    try:
        settings: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return text  # the engine reports this error
    if not isinstance(settings, dict):
        return text
    kept = {key: value for key, value in settings.items() if key not in _ENCRYPTION}
    return yaml.safe_dump(_replaced(kept), sort_keys=False, allow_unicode=True).encode()


def _replaced(value: Any) -> Any:
    if isinstance(value, dict):
        if list(value) == ["secure"]:
            return PLACEHOLDER
        return {key: _replaced(each) for key, each in value.items()}
    return [_replaced(each) for each in value] if isinstance(value, list) else value
