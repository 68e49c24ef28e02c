"""Exemptions inside the objects that they apply to, in an annotation or a comment.

metadata:
  annotations:
    pulumi-dra/ignore: claim-shared-by-replicas — all replicas read the same model
spec:  # pulumi-dra: ignore class-of-any-driver until 2027-01-31 — only one driver is installed
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from dra_planner.errors import Place
from dra_policies.configuration.exemptions import Excuse
from dra_policies.configuration.reading import unknown_rule
from dra_policies.configuration.schema import date_of
from dra_policies.rules import Finding

ANNOTATION: Final = "pulumi-dra/ignore"
_ANY: Final = re.compile(r"pulumi-dra(?:/|:\s*)ignore")
_COMMENT: Final = re.compile(r"(?:^|\s)#\s*pulumi-dra(?:/ignore:|:\s*ignore\b)\s*(?P<said>.*)$")
_EXEMPTION: Final = re.compile(
    r"(?P<rules>[\w-]+(?:\s*,\s*[\w-]+)*)(?:\s+until\s+(?P<until>\S+))?"
    r"(?:\s*(?:—|–|:)\s*|\s+--?\s+)(?P<reason>\S.*)"
)
_FIX: Final = "use the form RULE — REASON, or RULE until 2027-01-31 — REASON"


def may_exempt(text: str) -> bool:
    """Return whether a text may contain exemptions. This is a quick check before parsing it."""
    return _ANY.search(text) is not None


def comment_in(line: str) -> str | None:
    """Return the exemption in a line's comment, or None if the comment doesn't contain one."""
    found = _COMMENT.search(line)
    return found["said"].strip() if found else None


def read_beside(
    text: str, owner: str, place: Place, urn: str = "", custom: Collection[str] = ()
) -> Iterator[Excuse | Finding]:
    """Yield the exemptions in an annotation or a comment, one per line, and errors as findings.

    `owner` is the name of the object, and `custom` are the IDs of the project's custom rules.
    """
    for line in text.splitlines():
        if line.strip():
            yield from _read_line(line.strip(), owner, place, urn, custom)


def _read_line(
    line: str, owner: str, place: Place, urn: str, custom: Collection[str]
) -> Iterator[Excuse | Finding]:
    parsed = _EXEMPTION.fullmatch(line)
    if parsed is None:
        message = f'{owner}: the exemption "{line}" needs a rule and a reason'
        yield Finding(message=message, fix=_FIX, place=place, urn=urn)
        return
    until = None
    if parsed["until"]:
        try:
            until = date_of(parsed["until"])
        except ValueError as error:
            yield Finding(message=f"{owner}: {error}", fix=_FIX, place=place, urn=urn)
            return
    for rule in re.split(r"\s*,\s*", parsed["rules"]):
        if rule not in custom and (fix := unknown_rule(rule)):
            yield Finding(
                message=f'{owner}: rule "{rule}" doesn\'t exist', fix=fix, place=place, urn=urn
            )
        else:
            yield Excuse(rule, owner, parsed["reason"], place, urn, until, is_beside=True)
