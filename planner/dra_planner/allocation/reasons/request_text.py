"""The sentence that says why a node's devices don't satisfy one request of a pod."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dra_planner.allocation.node.template import Template
from dra_planner.allocation.reasons.explanation import (
    AbsentCapacity,
    AlternativeReport,
    Exclusion,
)
from dra_planner.allocation.reasons.selector_changes import devices_of_class, failing_conditions
from dra_planner.allocation.reasons.selector_error_text import selector_error_text
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.selection import OwnedSelector
from dra_planner.cel import SelectorTerm
from dra_planner.model import Shape
from dra_planner.quantity import Quantity
from dra_planner.wording import counted, listed, verb

_MOST_VALUES: Final = 4


def limit_capacity_text(name: str, most: Quantity, requested: Quantity, where: str) -> str:
    """Return the fix for a request for more of a capacity than any device has."""
    return f"request at most {most} {name} instead of {requested} in {where}"


def request_text(
    way: AlternativeReport,
    device_class: str,
    shape: Shape,
    template: Template,
    *,
    is_only_request: bool,
) -> str:
    """Return how many devices a request of a pod needs, how many match and are free, and why the
    others aren't.
    """
    texts = _ExclusionText(device_class, shape, template)
    found = _found(way, texts)
    return f"{request_subject(way, is_only_request=is_only_request)}, but {found}"


def request_subject(way: AlternativeReport, *, is_only_request: bool) -> str:
    """Return the beginning of a sentence: the number of devices that a pod requests."""
    wanted = "all matching devices" if way.wanted is None else counted(way.wanted, "device")
    if is_only_request:
        return f"the pod requests {wanted}"
    return f'the pod\'s request "{way.request}" needs {wanted}'


def _found(way: AlternativeReport, texts: _ExclusionText) -> str:
    if not way.seen:
        return "the node doesn't have any devices"
    exclusions = sorted(way.exclusions, key=lambda each: each.count)
    if not way.left and len(exclusions) == 1:
        return f"{_count(way)}, because {texts.reason(exclusions[0], way)}"
    *most, last = [texts.counted_reason(each) for each in exclusions] or [""]
    reasons = f"{', '.join(most)}, and {last}" if most else last
    return f"{_count(way)}: {reasons}" if reasons else _count(way)


def _count(way: AlternativeReport) -> str:
    """Return how many of a node's devices match and are free."""
    matches = way.left == way.matching
    one, many = ("matches", "match") if matches else ("is available", "are available")
    if way.left and (way.wanted is None or way.left >= way.wanted):
        devices = f"{way.left} of the node's {counted(way.seen, 'device')}"
        found = f"{devices} {one if way.left == 1 else many}"
        return f"the requested devices can't be allocated together, although {found}"
    if way.left == way.seen:
        return f"the node has only {way.left}"
    if way.left:
        return f"only {way.left} of the node's {way.seen} devices {one if way.left == 1 else many}"
    if way.seen == 1:
        none = "doesn't match" if matches else "isn't available"
        return f"the node's only device {none}"
    return f"none of the node's {way.seen} devices {one}"


class _ExclusionText(Struct, frozen=True):
    """Words the exclusions of devices for one request of a pod."""

    device_class: str
    shape: Shape
    template: Template

    def reason(self, each: Exclusion, way: AlternativeReport) -> str:
        """Return why one step excludes all devices of a node."""
        if each.step == "error":
            return self._error(each)
        if each.step == "selector" and each.term is not None:
            return listed(
                f"`{condition}`{_owner(each.term)} is false{values}"
                for condition, values in self._conditions(each.term)
            )
        reason = f"{'it' if way.seen == 1 else 'they'} {_predicate(each)}"
        return reason.replace("it is ", "it's ").replace("they are ", "they're ")

    def counted_reason(self, each: Exclusion) -> str:
        """Return why one step excludes some devices of a node."""
        if each.step == "error":
            return f"for {each.count}, {self._error(each)}"
        if each.step == "selector" and each.term is not None:
            conditions = listed(
                f"`{condition}`{_owner(each.term)}{values}"
                for condition, values in self._conditions(each.term)
            )
            return f"{each.count} {verb(each.count, 'do')}n't match {conditions}"
        return f"{each.count} {_predicate(each)}"

    def _error(self, each: Exclusion) -> str:
        if isinstance(each.cause, AttemptError) and each.cause.selector is not None:
            return selector_error_text(each.cause, self.shape, self.template)[0]
        return f'scheduling fails with the error "{each.detail}"'

    def _conditions(self, term: OwnedSelector) -> list[tuple[str, str]]:
        """Return the conditions of a selector that are false for devices, with the devices'
        values.
        """
        devices = (
            [each for each in self.template.candidates if each.bit & self.template.searched]
            if term.owner
            else devices_of_class(self.device_class, self.template)
        )
        failing = failing_conditions(term.expression, devices, self.template)
        return [(each.text, _values(each)) for each in failing] or [(term.expression, "")]


def _predicate(each: Exclusion) -> str:
    count, detail = each.count, each.detail
    match each.step:
        case "unknown":
            return "can't be evaluated"
        case "capacity" if isinstance(each.cause, AbsentCapacity):
            absent = each.cause
            suggestion = f' (did you mean "{absent.similar}"?)' if absent.similar else ""
            return f'{verb(count, "do")}n\'t publish the capacity "{absent.name}"{suggestion}'
        case "capacity":
            return f"{verb(count, 'are')} too small ({detail})"
        case "taken":
            return f"{verb(count, 'are')} in use" + (f" ({detail})" if detail else "")
        case "counters":
            sets = listed(f'"{name}"' for name in detail.split(", "))
            return f"{verb(count, 'need')} more of counter set {sets} than is free"
        case "taint":
            return f"{verb(count, 'have')} the taint {detail}"
        case _:
            return f"{verb(count, 'are')} {detail}"


def _owner(term: OwnedSelector) -> str:
    return f" of DeviceClass {term.owner}" if term.owner else ""


def _values(condition: SelectorTerm) -> str:
    """Return the values that a condition reads: " (type: gpu)"."""
    texts = [
        f"{at.path[-1]}: {', '.join([value for value, _ in at.values][:_MOST_VALUES])}"
        if at.values
        else f"no {at.path[-1]}"
        for at in condition.reads
        if at.values or at.absent
    ]
    return f" ({'; '.join(texts)})" if texts else ""
