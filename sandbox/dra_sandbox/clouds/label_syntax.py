"""What the key and the value of a node's label are made of:
kubernetes.io/docs/concepts/overview/working-with-objects.

Clouds ask it before a node does, which would not join (Azure/AKS issue 1739).
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DOMAIN = re.compile(rf"{_PART}(\.{_PART})*")


def is_key(key: str) -> bool:
    """Whether a text is the key of a label or taint: a name, after a domain and a slash or
    alone.
    """
    domain, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (
        not slash or (len(domain) <= 253 and bool(_DOMAIN.fullmatch(domain)))
    )


def is_value(value: str) -> bool:
    """Whether a text is the value of a label or taint; an empty one is."""
    return not value or bool(_NAME.fullmatch(value))
