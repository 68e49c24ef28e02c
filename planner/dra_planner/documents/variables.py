"""Variables that Flux, `envsubst`, or `clusterctl` fill in: ${NAME} and ${NAME:=default}."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?([-=])([^}]*))?\}")


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values of its variables, or their defaults, or empty texts."""
    return _VARIABLE.sub(lambda found: values.get(found[1], found[3] or ""), text)


def fill_in_defaults(text: str) -> tuple[str, dict[str, str]]:
    """Return the text with the defaults of its variables, and these defaults by variable. Variables
    without a default don't change.
    """
    defaults: dict[str, str] = {}

    def default(found: re.Match[str]) -> str:
        if found[2] is None:
            return found[0]
        return defaults.setdefault(found[1], found[3])

    return _VARIABLE.sub(default, text), defaults
