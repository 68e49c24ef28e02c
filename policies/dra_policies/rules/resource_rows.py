"""Faults in a single property of a resource, from the table `resource_rows`, which contains rows
for several rules.

Only certain faults count. Values that are unknown or left to an account's default aren't faults.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from dra_planner.catalog.tables import read_table
from dra_planner.clouds import cloud
from dra_planner.quantity import Quantity, QuantityError
from dra_policies.rules.row_subjects import (
    RowOwner,
    RowSubject,
    equals_word,
    leaves,
    machine_owner,
    owner_of,
)
from dra_policies.rules.rule import Finding, sentence
from dra_policies.unknown_values import UNKNOWN, as_list, has_unknown
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView

_GIB: Final = 2**30
_SECONDS: Final = re.compile(r"[0-9]{1,12}s")
EVERYWHERE: Final = frozenset({"0.0.0.0/0", "::/0"})


class ResourceRow(Struct, frozen=True, kw_only=True):
    """One fault of a resource type. `reference` is a published source for it.

    `about` selects the resources: all, resources of a stack with claims, or DRA pools. `wrong` is
    the condition: the property *is* the value or one of several joined by "or", *lacks* it in
    its list, *matches* it, is *set*, has *several*, is *below* or *above* it, *open* to every
    address, or *open by default*, which includes an absent value.
    `where` contains additional conditions joined by "and": `path=value`, `path` (set), or
    either one negated with "!". A condition that starts with `[].` refers to the list item that
    the property's path goes through. `path~value` is a regular expression, and "|" separates
    alternatives of a value. A path that starts with `cluster:`, `template:`, or `machine:`
    belongs to the cluster, launch template, or machine type of a pool, and one with
    `@property#Type:` to the resource that a property names. A property *differs* from the one
    at the path `value`, *equals* it, or is *elsewhere*: in another region. The value of *above*
    can be a share of another number ("60% of machine:memoryGib").
    """

    rule: str
    about: str
    type: str
    kind: str
    property: str
    wrong: str
    value: str
    where: str
    problem: str
    fix: str
    reference: str

    def is_broken(self, read: RowSubject) -> bool:
        """Return whether the resource certainly has this fault."""
        conditions = [each for each in self.where.split(" and ") if each]
        if not all(
            read.holds(each) for each in conditions if not each.lstrip("!").startswith("[].")
        ):
            return False
        owner, path = read.owner(self.property)
        if owner is None:
            return False
        head, items, rest = path.partition("[].")
        if self.wrong == "differs":
            return read.differs(owner, path, self.value)
        if self.wrong == "equals":
            return read.equals(owner, path, self.value)
        if self.wrong == "elsewhere":
            return read.is_elsewhere(owner, path, self.value)
        if not items:
            return self._is_wrong(owner, head, self._bound(read))
        listed = [owner.item(head, item) for item in owner.props.items(head) or ()]
        if self.wrong == "below":
            return _all_known(
                self._is_wrong(item, rest, self._bound(read, item))
                for item in listed
                if item.props.has(rest) is not False
            )
        return any(
            self._meets(item) and self._is_wrong(item, rest, self._bound(read, item))
            for item in listed
        )

    def problem_of(self, read: RowSubject) -> str:
        """Return the problem of a resource that has this fault, with the wrong value instead of
        `{value}`.
        """
        if "{value}" not in self.problem:
            return self.problem
        return self.problem.replace("{value}", next(self._wrong_texts(read), "?"))

    def _wrong_texts(self, read: RowSubject) -> Iterator[str]:
        owner, path = read.owner(self.property)
        if owner is None:
            return
        head, items, rest = path.partition("[].")
        listed = [owner.item(head, item) for item in owner.props.items(head) or ()]
        for each in listed if items else (owner,):
            bound = self._bound(read, each if items else None)
            if self._meets(each) and self._is_wrong(each, rest or head, bound):
                for leaf in leaves(each.props.at(rest or head)):
                    if self.wrong != "matches" or re.search(self.value, str(leaf)):
                        yield f"{leaf:g}" if isinstance(leaf, float) else str(leaf)

    def _meets(self, item: RowOwner) -> bool:
        """Return whether the conditions for a single item hold, which contain `[].`."""
        return all(
            item.holds(each.replace("[].", ""))
            for each in self.where.split(" and ")
            if each.lstrip("!").startswith("[].")
        )

    def _bound(self, read: RowSubject, item: RowOwner | None = None) -> int | None:
        """Return the number in the value, or the number that the value is a share of. None if it's
        unknown. A path that starts with `[].` belongs to the list item.
        """
        if self.wrong not in ("below", "above"):
            return None
        share, _, path = self.value.partition("% of ")
        if not path:
            return int(self.value)
        owner: RowOwner | None
        if path.startswith("[]."):
            owner, path = item, path.removeprefix("[].")
        else:
            owner, path = read.owner(path)
        whole = None if owner is None else owner.props.count(path, -1)
        # Providers that are built on Terraform return 0 for a number that isn't set.
        return whole * int(share) // 100 if whole and whole > 0 else None

    def _is_wrong(self, owner: RowOwner, path: str, bound: int | None) -> bool:
        props = owner.props
        value = props.at(path)
        if value is UNKNOWN:
            return self.wrong == "set" and owner.comes_from_resource(path)
        match self.wrong:
            case "is":
                return any(
                    equals_word(each, wanted)
                    for each in leaves(value)
                    for wanted in self.value.split(" or ")
                )
            case "set":
                return bool(value) and (not has_unknown(value) or owner.comes_from_resource(path))
            case "lacks":
                texts = props.texts(path)
                return texts is not None and None not in texts and self.value not in texts
            case "several":
                return len(as_list(value) or ()) > 1
            case "below" | "above":
                count = None if value is None else _size(value, props.count(path, 0))
                return (
                    count is not None
                    and bound is not None
                    and (count < bound if self.wrong == "below" else count > bound)
                )
            case "matches":
                return any(
                    isinstance(each, str) and bool(re.search(self.value, each))
                    for each in leaves(value)
                )
            case _:
                by_default = self.wrong == "open by default" and not value
                return by_default or any(
                    isinstance(each, str) and each in EVERYWHERE for each in leaves(value)
                )


def _all_known(answers: Iterable[bool]) -> bool:
    """Return whether there is at least one answer, and all answers are true."""
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


class BrokenRow(Struct, frozen=True):
    """A row that a resource breaks, with the resource's title and URN and the problem's text."""

    row: ResourceRow
    title: str
    urn: str
    problem: str

    @property
    def finding(self) -> Finding:
        reference = f" ({self.row.reference})" if self.row.reference else ""
        return Finding(
            message=f"{sentence(self.title, self.problem)}{reference}",
            fix=self.row.fix,
            urn=self.urn,
        )

    @property
    def places(self) -> Iterator[tuple[str, str]]:
        """The URN with each property that the row reads."""
        for each in (self.row.property, *self.row.where.split(" and ")):
            path = re.split(r"[=~]", each.lstrip("!"), maxsplit=1)[0].replace("[]", "")
            yield self.urn, path.replace("%2E", ".").removeprefix(".")


def broken_rows(view: StackView, rule: str) -> Iterator[Finding]:
    """Yield a finding for each row of a rule that a resource of the view, or a pool inside a
    cluster, breaks.
    """
    for broken in rows_that_break(view, rule):
        yield broken.finding


def rows_that_break(view: StackView, rule: str) -> Iterator[BrokenRow]:
    """Yield the rows of a rule that a resource of the view, or a pool inside a cluster, breaks."""
    by_type = _rows_by_type(rule)
    owners = {each.urn: each for each in (*view.declared, *view.objects)}
    pools = {pool.urn: pool for pool in view.pools}
    for each in (*view.declared, *view.objects, *view.installed_charts):
        found = by_type.get(each.type)
        if found is None:  # this applies to most resources of a stack
            continue
        pool = pools.get(each.urn)
        read = _subject(owner_of(each), pool, owners)
        for row in found:
            if _is_about(row, pool is not None and _is_for_claims(pool), view) and row.is_broken(
                read
            ):
                title = f'{row.kind} "{each.name}"'
                yield BrokenRow(row, title, each.urn, row.problem_of(read))
    for pool in view.inner_pools:
        read = _subject(RowOwner(props=pool.own), pool, owners)
        for row in by_type.get(cloud(pool.cloud).pool.token, ()):
            if _is_about(row, _is_for_claims(pool), view) and row.is_broken(read):
                yield BrokenRow(row, pool.title, pool.urn, row.problem_of(read))


@cache
def _rows_by_type(rule: str) -> Mapping[str, Sequence[ResourceRow]]:
    by_type: dict[str, list[ResourceRow]] = {}
    for row in rows(rule):
        by_type.setdefault(row.type, []).append(row)
    return by_type


def _subject(
    own: RowOwner, pool: DeclaredPool | None, owners: Mapping[str, DeclaredResource]
) -> RowSubject:
    if pool is None:
        return RowSubject(own=own, resources=owners)
    declared, cluster = owners.get(pool.template_urn), owners.get(pool.cluster_urn)
    template = None if declared is None else owner_of(declared)
    if template is None and pool.template is not None:
        template = RowOwner(props=pool.template)
    machine = known_machine(pool.cloud, pool.machine)
    return RowSubject(
        own=own,
        cluster=None if cluster is None else owner_of(cluster),
        template=template,
        machine=machine_owner(machine) if machine else None,
        resources=owners,
    )


def _is_for_claims(pool: DeclaredPool) -> bool:
    return pool.is_dra is True and pool.has_gpus is not False


@cache
def resource_kinds() -> Mapping[str, str]:
    """Return the names of resource types in messages."""
    return {row["type"]: row["kind"] for row in read_table("resource_rows")}


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
            problem=row["problem"],
            fix=row["fix"],
            reference=row["reference"],
        )
        for row in read_table("resource_rows")
        if row["rule"] == rule
    )
