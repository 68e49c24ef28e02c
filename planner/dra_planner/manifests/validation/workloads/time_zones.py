"""Names of time zones that the API server accepts.

Source: kubernetes/kubernetes:pkg/apis/batch/validation/validation.go@v1.36.3 (validateTimeZone).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final
from zoneinfo import available_timezones

_PART: Final = re.compile(r"(?!-)[A-Za-z.\-_0-9+]{1,14}", re.ASCII)
_ALWAYS: Final = frozenset({"UTC"})


def time_zone_fault(name: str) -> str:
    """Return the error in a time zone's name, or "".

    Without a time zone database on this machine, every name of the right form is accepted.
    """
    if not name:
        return "timeZone must be nil or non-empty string"
    if not all(_PART.fullmatch(part) and part not in (".", "..") for part in name.split("/")):
        return f"unknown time zone {name}"
    if name.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    known = _known()
    return f"unknown time zone {name}" if known and name not in known | _ALWAYS else ""


@cache
def _known() -> frozenset[str]:
    return frozenset(available_timezones())
