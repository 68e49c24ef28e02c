"""The cause of a selector's error on a device, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from dra_planner.allocation.node.template import Template
from dra_planner.allocation.reasons.absent_names import (
    names_in,
    published_domain,
    similar_name,
)
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.devices import Candidate
from dra_planner.cel import Dialect, Selector, compile, prepare
from dra_planner.cel.failing_part import failing_part, path_read, source_text
from dra_planner.cel.results import Path
from dra_planner.cel.tree import Call, Constant, SyntaxNode
from dra_planner.cel.values import SemverValue
from dra_planner.drivers import driver_of

CauseKind = Literal[
    "other-kind",
    "other-domain",
    "some-devices",
    "similar-name",
    "renamed",
    "not-published",
    "invalid-literal",
    "version-as-text",
    "no-bool",
    "other",
]
NameKind = Literal["attributes", "capacity"]
_FULL_PATH: Final = 3  # kind, domain, name
_COMPARISONS: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})


class SelectorCause(Struct, frozen=True):
    """The cause of an error: `part` is the smallest failing part of the expression, or "".

    For a name that the device doesn't publish, `reads`, `domain`, and `name` are the path, `driver`
    is the driver of the device, and `instead` is the similar name, the domain with the name, or a
    sentence about its replacement. For a literal, `name` is its text, and `reads` is empty.
    """

    kind: CauseKind
    part: str = ""
    function: str = ""  # of an invalid literal
    reads: NameKind | Literal[""] = ""
    domain: str = ""
    name: str = ""
    driver: str = ""
    instead: str = ""
    attributes: tuple[str, ...] = ()
    capacities: tuple[str, ...] = ()


def find_cause(error: AttemptError, template: Template) -> SelectorCause:
    """Return the cause of a selector's error, based on the devices of the node."""
    failed, own = error.selector, None
    if error.device is not None:
        own = template.candidates[template.index[error.device]]
    if failed is None or failed.stage == "compile" or own is None:
        return SelectorCause("other")
    selector = compile(failed.term.expression, Dialect.of(template.features, "stored"))
    if not isinstance(selector, Selector):
        return SelectorCause("other")
    node = failing_part(selector, own, failed.error)
    if node is None:
        is_bool = selector.tree.type.kind == "bool"
        return SelectorCause("other" if is_bool else "no-bool")
    path = path_read(node)
    if len(path) == _FULL_PATH and path[0] in ("attributes", "capacity"):
        reads: NameKind = "attributes" if path[0] == "attributes" else "capacity"
        _, domain, name = path
        if name not in names_in(own, reads, domain):
            devices = [each for each in template.candidates if each.bit & template.searched]
            return _absent_name(reads, domain, name, own, devices)
    return _other_cause(selector, node, own)


def _absent_name(
    reads: NameKind, domain: str, name: str, own: Candidate, devices: Sequence[Candidate]
) -> SelectorCause:
    """Return why a device doesn't have a name that a selector reads."""
    other: NameKind = "capacity" if reads == "attributes" else "attributes"
    found: tuple[CauseKind, str] = ("not-published", "")
    renamed = _renamed(reads, domain, name)
    if any(name in names_in(each, reads, domain) for each in devices):
        found = ("some-devices", "")
    elif name in names_in(own, other, domain):
        found = ("other-kind", "")
    elif renamed:
        found = ("renamed", renamed)
    elif near := similar_name(name, names_in(own, reads, domain)):
        found = ("similar-name", near)
    elif elsewhere := published_domain(name, reads, domain, [own]):
        found = ("other-domain", elsewhere)
    kind, instead = found
    return SelectorCause(
        kind,
        reads=reads,
        domain=domain,
        name=name,
        driver=own.driver,
        instead=instead,
        attributes=tuple(sorted(own.attributes)),
        capacities=tuple(sorted(own.capacity)),
    )


def _renamed(reads: NameKind, domain: str, name: str) -> str:
    """Return the sentence about an attribute that a version of the driver has renamed, or ""."""
    driver = driver_of(domain) if reads == "attributes" else None
    return driver.renamed.get((domain, name), "") if driver is not None else ""


def _other_cause(selector: Selector, node: SyntaxNode, own: Candidate) -> SelectorCause:
    """Return why a part fails although the device has every name that it reads."""
    part = source_text(selector, node)
    if isinstance(node, Call) and node.target is None and len(node.args) == 1:
        literal = node.args[0]
        if isinstance(literal, Constant) and isinstance(literal.value, str):
            return SelectorCause(
                "invalid-literal", part, function=node.function, name=literal.value
            )
    if isinstance(node, Call) and node.function in _COMPARISONS:
        texts = [each for each in node.args if isinstance(each, Constant)]
        versions = [path for each in node.args if _is_version(path := path_read(each), own)]
        if versions and texts:
            _, domain, name = versions[0]
            return SelectorCause(
                "version-as-text", part, reads="attributes", domain=domain, name=name
            )
    return SelectorCause("other", part)


def _is_version(path: Path, own: Candidate) -> bool:
    if len(path) != _FULL_PATH or path[0] != "attributes":
        return False
    value = prepare(own).attributes.get(path[1], {}).get(path[2])
    return isinstance(value, SemverValue)
