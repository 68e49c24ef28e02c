"""Faults that one property of a resource shows, from the table `resource_rows` with rows of several
rules.

Only certain faults count. Values that are unknown or left to an account's default aren't faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dra_planner.catalog.tables import read_table
from dra_planner.clouds import cloud, names
from dra_planner.quantity import Quantity, QuantityError
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import UNKNOWN, Properties, as_list, has_unknown
from dra_policies.view.stack_view import StackView

_GIB: Final = 2**30
_CLUSTER: Final = "cluster:"
_SECONDS: Final = re.compile(r"[0-9]{1,12}s")
EVERYWHERE: Final = frozenset({"0.0.0.0/0", "::/0"})
_WORDS: Final[Mapping[str, frozenset[object]]] = {
    "null": frozenset({None}),
    "true": frozenset({True, "true"}),
    "false": frozenset({False, "false"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRow:
    """One fault of a resource type. `reference` is a published source for it.

    `about` selects the resources: all, resources of a stack with claims, or DRA pools. `wrong` is
    the condition: the property *is* the value or one of several joined by "or", *lacks* it in its
    list, *matches* it, is *set*, has *several*, is *below* or *above* it, *open* to every address,
    or *open by default*, which includes an absent value. `where` contains additional conditions
    joined by "and": `path=value`, `path` (set), or either one negated with "!". A condition that
    starts with `[].` refers to the list item that the property's path goes through, and one that
    starts with `cluster:` refers to the cluster of a pool.
    """

    rule: str
    about: str
    type: str
    kind: str
    property: str
    wrong: str
    value: str
    where: str
    says: str
    fix: str
    reference: str

    def is_broken(self, props: Properties, cluster: Properties | None = None) -> bool:
        """Return whether the resource certainly has this fault; `cluster` is that of a pool, None
        if it isn't known.
        """
        conditions = [each for each in self.where.split(" and ") if each]
        of_cluster = [each for each in conditions if each.lstrip("!").startswith(_CLUSTER)]
        if of_cluster and (
            cluster is None
            or not all(_holds(each.replace(_CLUSTER, ""), cluster) for each in of_cluster)
        ):
            return False
        if not all(
            _holds(each, props)
            for each in conditions
            if each not in of_cluster and not each.lstrip("!").startswith("[].")
        ):
            return False
        head, items, rest = self.property.partition("[].")
        if not items:
            return self._is_wrong(props, head)
        of_item = [
            each.replace("[].", "") for each in conditions if each.lstrip("!").startswith("[].")
        ]
        if self.wrong == "below":
            return _all_known(
                self._is_wrong(item, rest)
                for item in props.items(head) or ()
                if item.has(rest) is not False
            )
        return any(
            all(_holds(each, item) for each in of_item) and self._is_wrong(item, rest)
            for item in props.items(head) or ()
        )

    def _is_wrong(self, props: Properties, path: str) -> bool:
        value = props.at(path)
        if value is UNKNOWN:
            return False
        match self.wrong:
            case "is":
                return any(
                    _is(each, wanted)
                    for each in _leaves(value)
                    for wanted in self.value.split(" or ")
                )
            case "set":
                return not has_unknown(value) and bool(value)
            case "lacks":
                texts = props.texts(path)
                return texts is not None and None not in texts and self.value not in texts
            case "several":
                return len(as_list(value) or ()) > 1
            case "below" | "above":
                count = None if value is None else _size(value, props.count(path, 0))
                bound = int(self.value)
                return count is not None and (
                    count < bound if self.wrong == "below" else count > bound
                )
            case "matches":
                return any(
                    isinstance(each, str) and bool(re.search(self.value, each))
                    for each in _leaves(value)
                )
            case _:
                by_default = self.wrong == "open by default" and not value
                return by_default or any(
                    isinstance(each, str) and each in EVERYWHERE for each in _leaves(value)
                )


def _all_known(answers: Iterable[bool]) -> bool:
    """Return whether there are answers, and all are true."""
    given = list(answers)
    return bool(given) and all(given)


def _size(value: object, count: int | None) -> int | None:
    """Return a count, a duration in seconds ("600s"), or a quantity in whole GiB; None for anything
    else.
    """
    if count is not None or not isinstance(value, str):
        return count
    if _SECONDS.fullmatch(value):
        return int(value[:-1])
    try:
        return Quantity.parse(value).value // _GIB
    except QuantityError:
        return None


def _holds(condition: str, props: Properties) -> bool:
    """Return whether a condition is certainly true."""
    path, equals, wanted = condition.lstrip("!").partition("=")
    value = props.at(path)
    if value is UNKNOWN or (equals and has_unknown(value)):
        return False
    answer = any(_is(each, wanted) for each in _leaves(value)) if equals else bool(value)
    return answer != condition.startswith("!")


def _is(value: object, wanted: str) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) == wanted
    return (value is None or isinstance(value, str | bool)) and value in _WORDS.get(
        wanted, frozenset({wanted})
    )


def _leaves(value: Any) -> list[Any]:
    return as_list(value) or [value]


def broken_rows(view: StackView, rule: str) -> Iterator[Finding]:
    """Yield a finding for each row of a rule that a resource of the view, or a pool inside a
    cluster, breaks.
    """
    pools = {pool.urn for pool in view.pools if pool.is_dra is True and pool.has_gpus is not False}
    declared = {each.urn: each.props for each in view.declared}
    clusters = {pool.urn: declared.get(pool.cluster_urn) for pool in view.pools}
    for each in (*view.declared, *view.objects):
        for row in rows(rule):
            if (
                row.type == each.type
                and _is_about(row, each.urn in pools, view)
                and row.is_broken(each.props, clusters.get(each.urn))
            ):
                yield _finding(row, f'{row.kind} "{each.name}"', each.urn)
    alone = {each.urn for each in view.declared if cloud_tokens().get(each.type)}
    for pool in view.pools:
        token = cloud(pool.cloud).pool.token
        for row in rows(rule) if pool.urn not in alone and pool.own.values else ():
            is_for_claims = pool.is_dra is True and pool.has_gpus is not False
            if (
                row.type == token
                and _is_about(row, is_for_claims, view)
                and row.is_broken(pool.own, declared.get(pool.cluster_urn))
            ):
                yield _finding(row, pool.title, pool.urn)


def _finding(row: ResourceRow, title: str, urn: str) -> Finding:
    said = f" ({row.reference})" if row.reference else ""
    return Finding(message=f"{title}: {row.says}{said}", fix=row.fix, urn=urn)


@cache
def cloud_tokens() -> Mapping[str, str]:
    """Return the resource types of separate pools, each with its cloud."""
    return {cloud(name).pool.token: name for name in names()}


def _is_about(row: ResourceRow, is_pool_for_claims: bool, view: StackView) -> bool:
    match row.about:
        case "claims":
            return view.wants_devices
        case "pools":
            return is_pool_for_claims
        case _:
            return True


@cache
def rows(rule: str) -> tuple[ResourceRow, ...]:
    """Return the rows of a rule, in the order of the table."""
    return tuple(
        ResourceRow(
            rule=row["rule"],
            about=row["about"],
            type=row["type"],
            kind=row["kind"],
            property=row["property"],
            wrong=row["wrong"],
            value=row["value"],
            where=row["where"],
            says=row["says"],
            fix=row["fix"],
            reference=row["reference"],
        )
        for row in read_table("resource_rows")
        if row["rule"] == rule
    )
