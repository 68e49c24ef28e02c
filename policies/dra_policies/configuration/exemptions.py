"""Exemptions: accepted findings, each with a reason and optionally a last day."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_policies.configuration.reading import Configured
from dra_policies.configuration.schema import date_of
from dra_policies.rules import Finding

_MOST_NAMES: Final = 3


class Excuse(Struct, frozen=True):
    """An exemption from one rule for one object, or for objects whose names match."""

    rule: str
    object: str
    reason: str
    place: Place = NOWHERE
    urn: str = ""
    expires: date | None = None
    is_beside: bool = False  # the exemption is written in the object itself, so the object exists

    def covers(self, rule: str, names: Iterable[str]) -> bool:
        """Return whether the exemption applies to a rule and to an object with these names.
        Quotation marks in the name of a pool or a resource are optional.
        """
        given = {each for name in (*names, "") for each in (name, name.replace('"', ""))}
        return rule == self.rule and any(fnmatchcase(name, self.object) for name in given)

    def is_over(self, today: date) -> bool:
        return self.expires is not None and today > self.expires

    def __str__(self) -> str:
        whose = "every object" if self.object == "*" else self.object
        return f"the exemption of {whose} from rule {self.rule}"


def excuses_of(configured: Configured) -> tuple[Excuse, ...]:
    """Return the exemptions that a configuration lists."""
    return tuple(
        Excuse(
            rule=each.rule,
            object=each.object,
            reason=each.reason,
            place=configured.place(index),
            expires=None if each.expires is None else date_of(each.expires),
        )
        for index, each in enumerate(configured.settings.exemptions)
    )


def excuse_for(
    excuses: Iterable[Excuse], rule: str, names: Collection[str], today: date
) -> Excuse | None:
    """Return the first active exemption for a finding of a rule about an object with these
    names.
    """
    return next(
        (each for each in excuses if each.covers(rule, names) and not each.is_over(today)), None
    )


def without_effect(
    excuses: Iterable[Excuse],
    used: Collection[Excuse],
    *,
    judged: Collection[str],
    names: Collection[str],
    today: date,
    reports_absent: bool,
    reported: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Iterator[Finding]:
    """Yield findings about exemptions that have expired or have no effect.

    `judged` are the rules that checked something, and `names` are the names of all checked objects.
    Exemptions for unchecked objects aren't reported, unless `reports_absent` is set. `reported` are
    the names of the objects of active findings by rule.
    """
    for each in excuses:
        if each.is_over(today):
            message = f"{each} expired on {each.expires}"
            fix = "fix the finding and remove the exemption, or set a later date"
            yield Finding(message=message, fix=fix, place=each.place, urn=each.urn)
        elif each in used or each.rule not in judged:
            continue
        elif (
            each.object == "*"
            or each.is_beside
            or any(fnmatchcase(name, each.object) for name in names)
        ):
            yield Finding(
                message=f"{each} has no effect, because the rule doesn't report this object",
                fix=_other_names(each, reported, "remove it"),
                place=each.place,
                urn=each.urn,
            )
        elif reports_absent:
            yield Finding(
                message=f"{each} has no effect, because the checked files don't contain this object",
                fix=_other_names(
                    each,
                    reported,
                    "remove the exemption if the object no longer exists, or correct the object's "
                    "name",
                ),
                place=each.place,
                remark=True,
            )


def _other_names(excuse: Excuse, reported: Mapping[str, Collection[str]], fix: str) -> str:
    """Return a fix with the names of the objects that the rule reports, if there are any."""
    names = sorted(filter(None, reported.get(excuse.rule, ())))
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    if not names:
        return fix
    return f"{fix}; the rule reports {', '.join(names[:_MOST_NAMES])}{more}"
