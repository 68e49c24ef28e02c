"""The resources that a row of the table `resource_rows` reads, and conditions about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from dra_planner.catalog import Machine
from dra_planner.drivers import nvidia
from dra_policies.unknown_values import UNKNOWN, Properties, as_list, as_mapping, has_unknown
from dra_policies.view.stack_view import DeclaredResource

_RANGE: Final = re.compile(r"[0-9a-f.:]+/[0-9]+")
_WORDS: Final[Mapping[str, frozenset[object]]] = {
    "null": frozenset({None}),
    "true": frozenset({True, "true"}),
    "false": frozenset({False, "false"}),
}
_MIB_PER_GIB: Final = 1024
_NAMES: Final = ("name", "subnetName", "virtualNetworkName", "resourceName")


class RowOwner(Struct, frozen=True, kw_only=True):
    """The properties that a path belongs to. `links` are the URNs of the resources that provide
    each property, by its first key.
    """

    props: Properties
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    type: str = ""
    urn: str = ""

    def comes_from_resource(self, path: str) -> bool:
        """Return whether the output of another resource provides a property, so it isn't null."""
        return bool(self.links.get(path.partition(".")[0]))

    def item(self, path: str, item: Properties) -> RowOwner:
        """Return an item of a list. The item's unknown properties come from the same resources as
        the list.
        """
        head = path.partition(".")[0]
        keys = as_mapping(item.values) or {}
        return RowOwner(props=item, links=dict.fromkeys(keys, self.links.get(head, ())))

    def holds(self, condition: str) -> bool:
        """Return whether a condition is certainly true."""
        text = condition.lstrip("!")
        path, operator, wanted = _parts(text)
        value = self.props.at(path)
        if value is UNKNOWN and not operator and self.comes_from_resource(path):
            return not condition.startswith("!")
        if value is UNKNOWN or (operator and has_unknown(value)):
            return False
        if operator == "~":
            answer = any(
                isinstance(each, str) and bool(re.search(wanted, each)) for each in leaves(value)
            )
        elif operator:
            answer = any(equals_word(each, wanted) for each in leaves(value))
        else:
            answer = bool(value)
        return answer != condition.startswith("!")


class RowSubject(Struct, frozen=True, kw_only=True):
    """A pool's resource, and its cluster, launch template, and machine type (None if unknown), with
    all resources by URN.
    """

    own: RowOwner
    cluster: RowOwner | None = None
    template: RowOwner | None = None
    machine: RowOwner | None = None
    resources: Mapping[str, DeclaredResource] = field(default_factory=dict[str, DeclaredResource])

    def owner(self, path: str) -> tuple[RowOwner | None, str]:
        """Return the resource that a path belongs to, and the path within this resource.

        Each prefix with a colon refers to another resource: `cluster`, `template`, or `machine`, or
        with `@property#Type` the only resource of that type that the property names. A `*` at its
        end takes the first of several.
        """
        found: RowOwner | None = self.own
        while ":" in path:
            prefix, _, path = path.partition(":")
            if prefix == "cluster":
                found = self.cluster
            elif prefix == "template":
                found = self.template
            elif prefix == "machine":
                found = self.machine
            else:
                found = self._linked(found, prefix.removeprefix("@"))
        return found, path

    def _linked(self, owner: RowOwner | None, link: str) -> RowOwner | None:
        if owner is None:
            return None
        path, _, kind = link.removesuffix("*").partition("#")
        found = [
            self.resources[urn]
            for urn in owner.links.get(path.partition(".")[0], ())
            if urn in self.resources and self.resources[urn].type.endswith(f":{kind}")
        ]
        named = {str(name).rpartition("/")[2] for name in leaves(owner.props.at(path)) if name}
        if not found and len(named) == 1:
            found = [
                each
                for each in self.resources.values()
                if each.type.endswith(f":{kind}")
                and named & {each.props.text(key) for key in _NAMES}
            ]
        only = len(found) == 1 or (found and link.endswith("*"))
        return owner_of(found[0]) if only else None

    def holds(self, condition: str) -> bool:
        """Return whether a condition is certainly true."""
        negated, text = condition.startswith("!"), condition.lstrip("!")
        head, operator, wanted = _parts(text)
        owner, path = self.owner(head)
        return owner is not None and owner.holds(
            f"{'!' if negated else ''}{path}{operator}{wanted}"
        )

    def differs(self, owner: RowOwner, path: str, other: str) -> bool:
        """Return whether two properties certainly have different values. Each property can also be
        a list. The values are texts, or outputs of resources of the same type.
        """
        against, there = self.owner(other)
        if against is None or against.urn in self._origins(owner, path):
            return False
        left = {each and _last_part(each) for each in _texts(owner, path)}
        right = {each and _last_part(each) for each in _texts(against, there)}
        if left and right and None not in left | right:
            return not left & right
        ours, theirs = set(self._origins(owner, path)), set(self._origins(against, there))
        types = {self.resources[urn].type for urn in ours | theirs}
        return bool(ours and theirs) and not ours & theirs and len(types) == 1

    def equals(self, owner: RowOwner, path: str, other: str) -> bool:
        """Return whether two properties certainly have the same text."""
        against, there = self.owner(other)
        left = list(_texts(owner, path))
        right = [] if against is None else list(_texts(against, there))
        return bool(left) and None not in left and left == right

    def is_elsewhere(self, owner: RowOwner, path: str, other: str) -> bool:
        """Return whether two locations are certainly in different regions, because neither location
        is a prefix of the other.
        """
        against, there = self.owner(other)
        if against is None:
            return False
        left, right = list(_texts(owner, path)), list(_texts(against, there))
        if not left or not right or None in (*left, *right):
            return False
        places = [str(each) for each in right]
        return any(
            not any(each.startswith(place) or place.startswith(str(each)) for place in places)
            for each in map(str, left)
        )

    def _origins(self, owner: RowOwner, path: str) -> Iterator[str]:
        for urn in owner.links.get(path.partition(".")[0], ()):
            if urn in self.resources:
                yield urn


def owner_of(resource: DeclaredResource) -> RowOwner:
    """Return a resource with the resources that provide each of its properties."""
    links: dict[str, tuple[str, ...]] = {}
    for key, urns in resource.sources.items():
        head = key.partition(".")[0].partition("[")[0]
        links[head] = (*links.get(head, ()), *urns)
    return RowOwner(props=resource.props, links=links, type=resource.type, urn=resource.urn)


def machine_owner(machine: Machine) -> RowOwner:
    """Return a machine type with the facts that conditions of rows can read."""
    facts: dict[str, object] = {
        "name": machine.instance_type,
        "family": machine.family,
        "arch": machine.arch,
        "gpus": machine.gpu_count,
        "vcpus": machine.vcpus,
        "memoryGib": machine.memory_mib // _MIB_PER_GIB if machine.memory_mib else UNKNOWN,
        "rdmaNetworks": machine.rdma_networks or 0,
        "efaInterfaces": machine.efa_interfaces or 0,
        "mig": _supports_mig(machine),
    }
    return RowOwner(props=Properties(facts))


def _supports_mig(machine: Machine) -> object:
    """Return whether a machine type's NVIDIA GPUs support MIG, or UNKNOWN."""
    accelerator = machine.accelerator
    if accelerator is None or accelerator.gpu is None:
        return UNKNOWN
    return nvidia.gpu(accelerator.gpu).mig_capable


def _parts(condition: str) -> tuple[str, str, str]:
    """Return a condition's path, its operator ("=", "~", or ""), and its value."""
    found = re.match(r"[^=~]*", condition)
    path = found[0] if found else condition
    return path, condition[len(path) : len(path) + 1], condition[len(path) + 1 :]


def _last_part(value: str) -> str:
    """Return the name at the end of a path, or the whole value if it's an IP range."""
    return value if _RANGE.fullmatch(value) else value.rpartition("/")[2]


def _texts(owner: RowOwner, path: str) -> Iterator[str | None]:
    """Yield the values of a property in lowercase and without spaces. None for unknown values."""
    head, items, rest = path.partition("[].")
    for item in (owner.props.items(head) or ()) if items else ():
        yield from _texts(RowOwner(props=item), rest)
    if items:
        return
    value = owner.props.at(path)
    for each in leaves(value) if value is not None else ():
        yield re.sub(r"\s", "", str(each)).casefold() if isinstance(each, str | int) else None


def equals_word(value: object, wanted: str) -> bool:
    """Return whether a value matches a value in the table, in which "|" separates alternatives."""
    if "|" in wanted:
        return any(equals_word(value, each) for each in wanted.split("|"))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) == wanted
    return (value is None or isinstance(value, str | bool)) and value in _WORDS.get(
        wanted, frozenset({wanted})
    )


def leaves(value: Any) -> list[Any]:
    """Return the items of a list, or the value itself."""
    listed = as_list(value)
    return [value] if listed is None else listed
