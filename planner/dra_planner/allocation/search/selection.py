"""Find the devices of a node that match the selectors of a class and a request.

Selectors run in order, starting with the selectors of the class. The first selector that doesn't
match ends the evaluation of a device, and an error ends the scheduling attempt of the pod. The
outcome of a selector depends only on the values that it reads, so outcomes are cached per
projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from dra_planner.allocation.search.devices import Candidate
from dra_planner.cel import Dialect, RejectedSelector, compile
from dra_planner.cel.device import prepare
from dra_planner.model import CelSelector, DeviceClass, Unknown
from dra_planner.releases import Features

if TYPE_CHECKING:
    from dra_planner.cel import RejectedSelector, Selector


class OwnedSelector(Struct, frozen=True):
    """One selector of a class (`owner` is its name) or of a request (`owner` is empty)."""

    owner: str
    position: int
    expression: str

    def __str__(self) -> str:
        return self.expression


class SelectorError(Struct, frozen=True):
    """A selector that doesn't compile, or that fails on a device. `error` is the error as CEL
    prints it.
    """

    term: OwnedSelector
    stage: Literal["compile", "runtime"]
    error: str

    def __str__(self) -> str:
        return f"CEL {self.stage} error: {self.error}"


class Selection(Struct):
    """Devices by outcome, as sets of bits.

    The reasons are stored per device for explanations: `failed` contains the term that each device
    failed, `errors` contains the errors, and `unknowns` contains the messages.
    """

    matched: int = 0
    unknown: int = 0
    erring: int = 0
    # some device causes an error, unless an earlier selector (whose result is unknown) excludes the
    # device
    doubtful: bool = False
    failed: dict[int, OwnedSelector] = {}
    errors: dict[int, SelectorError] = {}
    unknowns: dict[int, tuple[OwnedSelector | None, str]] = {}


def terms_of(
    device_class: DeviceClass, selectors: Sequence[CelSelector]
) -> tuple[OwnedSelector, ...]:
    """Return the selectors in the order in which they run."""
    own = tuple(
        OwnedSelector(device_class.name, i, s.expression)
        for i, s in enumerate(device_class.selectors)
    )
    return own + tuple(OwnedSelector("", i, s.expression) for i, s in enumerate(selectors))


def select(
    terms: Sequence[OwnedSelector],
    candidates: Sequence[Candidate],
    features: Features,
    views: dict[int, Any],
) -> Selection:
    """Evaluate the terms on every candidate. A device that the node can't use may cause an error,
    but never matches.

    `views` stores prepared devices by index for later terms.
    """
    selection = Selection()
    judges = [(term, _judge(term.expression, features)) for term in terms]
    for candidate in candidates:
        view = views.get(candidate.index)
        if view is None and judges:
            view = views[candidate.index] = _view(candidate)
        _select_one(selection, judges, candidate, view)
    return selection


def outcomes(
    expressions: Sequence[str], candidates: Sequence[Candidate], features: Features
) -> list[tuple[DeviceAnswer, ...]]:
    """Return the outcome and message of each expression for each candidate."""
    if not expressions:
        return [()] * len(candidates)
    judges = [_judge(expression, features) for expression in expressions]
    views = map(_view, candidates)
    return [tuple(judge.verdict(view) for judge in judges) for view in views]


def _select_one(
    selection: Selection,
    judges: Sequence[tuple[OwnedSelector, _Judge]],
    candidate: Candidate,
    view: Any,
) -> None:
    unknown = False
    for term, judge in judges:
        verdict, message = judge.verdict(view)
        if verdict == "no-match":
            selection.failed[candidate.index] = term
            return
        if verdict == "error" and unknown:
            selection.doubtful = True
            break
        if verdict == "error":
            stage: Literal["compile", "runtime"] = "compile" if judge.refused else "runtime"
            selection.errors[candidate.index] = SelectorError(term, stage, message)
            selection.erring |= candidate.bit
            return
        if verdict == "unknown":
            unknown = True
            selection.unknowns.setdefault(candidate.index, (term, message))
    if not candidate.reachable:
        return
    if unknown:
        selection.unknown |= candidate.bit
    else:
        selection.matched |= candidate.bit


DeviceAnswer = tuple[str, str]


class _Judge:
    """A compiled selector and its outcomes so far, by the values that it read."""

    __slots__ = ("_outcomes", "refused", "selector")

    def __init__(self, expression: str, features: Features) -> None:
        compiled = compile(expression, Dialect.of(features, "stored"))
        self.refused: RejectedSelector | None = (
            compiled if isinstance(compiled, RejectedSelector) else None
        )
        self.selector: Selector | None = (
            None if isinstance(compiled, RejectedSelector) else compiled
        )
        self._outcomes: dict[Any, DeviceAnswer] = {}

    def verdict(self, view: Any) -> DeviceAnswer:
        """Evaluate a device in the form of `_view`."""
        if self.refused is not None:
            if self.refused.kind == "unsupported":
                return "unknown", self.refused.message
            return "error", self.refused.message
        assert self.selector is not None
        key = self.selector.projection(view)
        known = self._outcomes.get(key)
        if known is None:
            outcome = self.selector.matches(view)
            known = self._outcomes[key] = (outcome.verdict, outcome.message)
        return known


def _view(candidate: Candidate) -> Any:
    """Return the device prepared for selectors, once for all of them."""
    return prepare(candidate)


@lru_cache(maxsize=4096)
def _judge(expression: str, features: Features) -> _Judge:
    return _Judge(expression, features)


def fix_of(expression: str, features: Features) -> str:
    """Return the fix with which a selector compiles, or "" if it already compiles or no fix is
    known.
    """
    refused = _judge(expression, features).refused
    return refused.fix or "" if refused is not None else ""


def values_read(term: OwnedSelector, candidate: Candidate, features: Features) -> tuple[str, ...]:
    """Return a device's values that a selector reads, as text, or () if the selector reads
    everything.
    """
    selector = _judge(term.expression, features).selector
    if selector is None:
        return ()
    found = [
        _text_at(path[0], f"{path[1]}/{path[2]}", candidate)
        for path in sorted(selector.reads)
        if len(path) == 3 and path[0] in ("attributes", "capacity")
    ]
    is_missing = any(each.startswith("no ") for each in found)
    if ("driver",) in selector.reads:
        found.append(f"driver {candidate.driver}" if is_missing else candidate.driver)
    return ((", " if is_missing else " ").join(found),) if found else ()


def _text_at(kind: str, name: str, candidate: Candidate) -> str:
    domain, _, bare = name.partition("/")
    own = domain == candidate.driver
    if kind == "capacity":
        capacity = candidate.capacity.get(name) or (candidate.capacity.get(bare) if own else None)
        return (
            "?" if capacity is None or isinstance(capacity.value, Unknown) else str(capacity.value)
        )
    value = candidate.attributes.get(name)
    if value is None and own:
        value = candidate.attributes.get(bare)
    if value is None:
        return f"no {bare}"
    return "unknown" if isinstance(value, Unknown) else str(value)
