"""Check the syntax of label keys and values:
kubernetes.io/docs/concepts/overview/working-with-objects. Clouds check it before they create a
node, because a node with an invalid label wouldn't join (Azure/AKS issue 1739).
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DOMAIN = re.compile(rf"{_PART}(\.{_PART})*")


def is_key(key: str) -> bool:
    """Return True if a text is a valid key of a label or taint: a name, optionally after a domain
    and a slash.
    """
    domain, slash, name = key.rpartition("/")
    return bool(_NAME.fullmatch(name)) and (
        not slash or (len(domain) <= 253 and bool(_DOMAIN.fullmatch(domain)))
    )


def is_value(value: str) -> bool:
    """Return True if a text is a valid value of a label or taint. An empty text is valid."""
    return not value or bool(_NAME.fullmatch(value))
