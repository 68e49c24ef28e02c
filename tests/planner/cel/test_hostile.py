"""Selectors that mean harm: each ends in an answer, within its budget, without exhausting time,
stack or memory.
"""

from __future__ import annotations

import cProfile
import sys
import threading
import tracemalloc
from collections.abc import Callable

import pytest
from dialects import new, stored
from hostile_selectors import DEVICE, GROWTH, HOSTILE, NESTING, nested

from dra_planner.cel import RejectedSelector, Selector, compile

# calls of Python functions; each takes a tenth of a microsecond without profiling
MAX_CALLS = 1_500_000


def answer(text: str) -> str:
    """Return the result for a selector that wasn't compiled before."""
    selector = compile.__wrapped__(text, stored())
    if isinstance(selector, RejectedSelector):
        return selector.kind
    outcome = selector.matches(DEVICE)
    assert outcome.cost <= 1_000_000 or outcome.verdict == "error"
    return outcome.verdict


def run_with(stack: int, job: Callable[[], None]) -> None:
    """Runs the job in a thread with this stack size in bytes."""
    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=job)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_selector_ends_with_a_limited_number_of_calls(name: str) -> None:
    text, expected = HOSTILE[name]
    answer("true")
    before = sys.getrecursionlimit()
    profile = cProfile.Profile(builtins=False)
    found = profile.runcall(answer, text)
    assert found == expected
    assert sum(entry.callcount for entry in profile.getstats()) < MAX_CALLS
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("name", ["5 000 numbers", "10 000 characters", "6 loops of map", *GROWTH])
def test_memory_stays_small(name: str) -> None:
    tracemalloc.start()
    answer(HOSTILE[name][0])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150_000_000


def test_a_small_stack_is_enough() -> None:
    found: dict[str, str] = {}
    run_with(
        128 * 1024,
        lambda: found.update((name, answer(text)) for name, (text, _) in NESTING.items()),
    )
    assert found == {name: expected for name, (_, expected) in NESTING.items()}


def test_deep_call_stack_is_supported() -> None:
    def at(depth: int) -> dict[str, str]:
        return (
            at(depth - 1) if depth else {name: answer(text) for name, (text, _) in NESTING.items()}
        )

    room = sys.getrecursionlimit() - 60
    used = 0
    frame = sys._getframe()
    while frame is not None:
        frame, used = frame.f_back, used + 1  # type: ignore[assignment]  # the last has none
    assert at(room - used) == {name: expected for name, (_, expected) in NESTING.items()}


def test_admission_rejects_expressions_that_could_cost_too_much() -> None:
    refused = compile(nested(6), new())
    assert isinstance(refused, RejectedSelector)
    assert refused.kind == "cost"
    assert refused.fix


def test_a_smaller_budget_ends_sooner() -> None:
    selector = compile(nested(3), stored())
    assert isinstance(selector, Selector)
    assert selector.matches(DEVICE).verdict == "no-match"
    outcome = selector.matches(DEVICE, budget=100)
    assert (outcome.verdict, outcome.message) == (
        "error",
        "operation cancelled: actual cost limit exceeded",
    )
    assert outcome.cost < 200


def test_exceeded_work_limit_has_its_own_message() -> None:
    selector = compile(GROWTH["2^40 parts, compared"][0], stored())
    assert isinstance(selector, Selector)
    outcome = selector.matches(DEVICE)
    assert (
        outcome.message
        == "operation cancelled: the selector exceeds the work limit of this program"
    )
    assert selector.matches(DEVICE) == outcome
    afterwards = compile("[1, 2] == [1, 2]", stored())
    assert isinstance(afterwards, Selector)
    assert afterwards.matches(DEVICE).verdict == "match"
