"""Check whether our outcome is one of upstream's outcomes."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

Json = dict[str, Any]


def difference(ours: Json, theirs: list[Json]) -> str:
    """Return an empty text if our result is among upstream's results. Otherwise, return the
    difference. If upstream gives up after its ten seconds, there is nothing to compare.
    """
    if any(other["verdict"] == "timeout" for other in theirs):
        return ""
    mine = _canonical(ours)
    others = [_canonical(other) for other in theirs]
    if mine in others:
        return ""
    shown = "\n   or  ".join(json.dumps(o, sort_keys=True) for o in others)
    return f"ours   {json.dumps(mine, sort_keys=True)}\n  upstream {shown}"


def _canonical(outcome: Json) -> Json:
    made = {key: value for key, value in outcome.items() if value not in (None, False)}
    if made["verdict"] == "error":
        made["error"] = _canonical_error(made["error"])
    if made["verdict"] == "panic":
        made = {"verdict": "error", "error": _canonical_error(str(made.get("error", "")))}
    for claim in made.get("claims", ()):
        for device in claim["devices"]:
            if "consumed" in device:
                device["consumed"] = {
                    n: format(Decimal(q).normalize(), "f") for n, q in device["consumed"].items()
                }
    return made


def _canonical_error(text: str) -> str:
    """Return the error without the parts that aren't compared.

    CEL errors are compared only by location, because another conformance run compares their
    wording. Upstream's message about a missing class ends with the error of its lister.
    """
    text = re.sub(r"(could not retrieve device class \S+): .*", r"\1", text)
    return re.sub(r"(CEL (?:runtime|compile) error): .*", r"\1", text, flags=re.DOTALL)
