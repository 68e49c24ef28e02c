"""A compiled selector, and the devices that it matches."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from dra_planner.cel.checking.read_paths import sees_form
from dra_planner.cel.cost.effort import METER, EffortExceeded
from dra_planner.cel.device import DeviceView, prepare
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation.state import Closure, State, run_deep
from dra_planner.cel.results import Path, SelectorOutcome, Verdict
from dra_planner.cel.stack_depth import DEEPEST, SHALLOW, room_for
from dra_planner.cel.tree import SyntaxNode, depth
from dra_planner.cel.values import (
    CelError,
    CostExceeded,
    Optional,
    Panic,
    SemverValue,
    UnknownError,
    UnknownValue,
    type_name,
)
from dra_planner.quantity import Quantity

BUDGET: Final = 1_000_000
"""Maximum cost of one evaluation in Kubernetes."""

_ABSENT: Final = ("absent",)
_MAX_SETTLED: Final = 64


class Selector:
    """A compiled selector. `estimated_cost` is the maximum according to upstream's estimator, and
    `reads` are the device paths that it can read, or `ALL`.
    """

    __slots__ = (
        "_closure",
        "_fresh",
        "_paths",
        "_settled",
        "_slots",
        "dialect",
        "estimated_cost",
        "reads",
        "text",
        "tree",
    )

    def __init__(
        self,
        text: str,
        dialect: Dialect,
        tree: SyntaxNode,
        closure: Closure,
        slots: int,
        estimated_cost: int,
        reads: frozenset[Path],
    ) -> None:
        self.text = text
        self.dialect = dialect
        self.tree = tree
        self.estimated_cost = estimated_cost
        self.reads = reads
        self._paths = tuple(sorted(reads))
        self._slots = slots
        self._fresh = sees_form(tree)
        self._settled: dict[tuple[Verdict, int], SelectorOutcome] = {}
        levels = depth(tree)
        self._closure = closure if levels <= SHALLOW else run_deep(closure, levels)

    def __repr__(self) -> str:
        return f"Selector({self.text!r})"

    def matches(self, device: Any, budget: int = BUDGET) -> SelectorOutcome:
        """Evaluate the selector on a device.

        The device is in API form, is the model's device with its driver, or is prepared (if several
        selectors read it). `budget` limits the cost, and an evaluation beyond it is an error.
        Raises `DeviceError` for any other value.
        """
        seen = device if device.__class__ is DeviceView else prepare(device)
        try:
            return self._evaluate(seen, budget)
        except RecursionError:  # deeply nested values, or a caller whose stack is already deep
            with room_for(DEEPEST):
                return self._evaluate(seen, budget)

    def _evaluate(self, seen: DeviceView, budget: int) -> SelectorOutcome:
        if seen.failure or seen.list_failure:
            failure = seen.failure or (
                "" if self.dialect.reads_list_attributes else seen.list_failure
            )
            if failure:
                return SelectorOutcome("error", failure)
        METER.spent = 0
        state = State(
            seen, seen.quantities() if self._fresh else seen.shared_quantities, self._slots, budget
        )
        try:
            value = self._closure(state)
        except CelError as error:
            return self._end(state, "error", error.message)
        except UnknownError as error:
            return self._end(
                state, "unknown", "known only at run time: " + ", ".join(sorted(error.paths))
            )
        except EffortExceeded:
            return SelectorOutcome(
                "error",
                "operation cancelled: the selector exceeds the work limit of this program",
                state.cost,
            )
        except CostExceeded:
            return SelectorOutcome(
                "error",
                "operation cancelled: actual cost limit exceeded",
                max(state.cost, budget + 1),
            )
        except Panic as error:
            return self._end(state, "error", f"internal error: {error}")
        if value is True or value is False:
            return self._settle(state, "match" if value else "no-match")
        return self._end_otherwise(state, value)

    def _end_otherwise(self, state: State, value: Any) -> SelectorOutcome:
        """Return the outcome for a result that isn't a bool. As upstream, a bool inside an optional
        is converted.
        """
        inner = value
        while inner.__class__ is Optional and inner.present:
            inner = inner.value
        if inner is True or inner is False:
            return self._settle(state, "match" if inner else "no-match")
        if inner.__class__ is UnknownValue:
            return self._end(state, "unknown", f"known only at run time: {inner.path}")
        return self._end(
            state, "error", f"CEL result of type {type_name(value)} could not be converted to bool"
        )

    def _end(self, state: Any, verdict: Verdict, message: str) -> SelectorOutcome:
        if state.cost > state.budget:
            return SelectorOutcome(
                "error", "operation cancelled: actual cost limit exceeded", state.cost
            )
        return SelectorOutcome(verdict, message, state.cost)

    def _settle(self, state: Any, verdict: Verdict) -> SelectorOutcome:
        """Return the outcome without a message. The few different outcomes are cached."""
        cost = state.cost
        if cost > state.budget:
            return self._end(state, verdict, "")
        outcome = self._settled.get((verdict, cost))
        if outcome is None:
            outcome = SelectorOutcome(verdict, "", cost)
            if len(self._settled) < _MAX_SETTLED:
                self._settled[verdict, cost] = outcome
        return outcome

    def outcomes(self, devices: Iterable[Any], budget: int = BUDGET) -> list[SelectorOutcome]:
        """Return the outcomes of many devices, in their order. Devices with equal projections are
        evaluated once.
        """
        known: dict[Hashable, SelectorOutcome] = {}
        found: list[SelectorOutcome] = []
        for device in devices:
            seen = device if device.__class__ is DeviceView else prepare(device)
            key = self.projection(seen)
            outcome = known.get(key)
            if outcome is None:
                outcome = known[key] = self.matches(seen, budget)
            found.append(outcome)
        return found

    def projection(self, device: Any) -> Hashable:
        """Return all values of the device that the selector can read. Equal projections have equal
        outcomes.

        Values that are known only at run time are marked with their group, and absent values are
        marked as absent.
        """
        seen = device if device.__class__ is DeviceView else prepare(device)
        return (seen.failure, seen.list_failure, *[_projected(seen, path) for path in self._paths])


def _projected(device: DeviceView, path: Path) -> Hashable:
    if len(path) == 3:
        within: Any = (device.attributes if path[0] == "attributes" else device.capacity).get(
            path[1]
        )
        return (
            _ABSENT if within is None or path[2] not in within else _frozen_value(within[path[2]])
        )
    if not path:
        return (
            device.driver,
            device.allow_multiple_allocations,
            _frozen_domains(device.attributes),
            _frozen_domains(device.capacity),
        )
    if path[0] == "driver":
        return device.driver
    if path[0] == "allowMultipleAllocations":
        return device.allow_multiple_allocations
    if path[0] not in ("attributes", "capacity"):
        return None
    domains: Any = device.attributes if path[0] == "attributes" else device.capacity
    if len(path) == 1:
        return _frozen_domains(domains)
    within = domains.get(path[1])
    return _ABSENT if within is None else _frozen(within)


def _frozen_domains(domains: Any) -> Hashable:
    return tuple((domain, _frozen(within)) for domain, within in domains.items())


def _frozen(within: Any) -> Hashable:
    return tuple((name, _frozen_value(value)) for name, value in within.items())


def _frozen_value(value: Any) -> Hashable:
    kind = value.__class__
    if kind is Quantity:
        key: Hashable = value.key
        return key
    if kind is list:
        return ("list", *map(_frozen_value, value))
    if kind is UnknownValue:
        return ("unknown", value.group or value.path, value.like)
    if kind is SemverValue:
        return value  # type: ignore[no-any-return]  # a frozen value
    return (kind, value)
