"""Selectors that mean harm: each ends in an answer, within its budget, without exhausting stack or memory."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

from dra_planner.cel import Dialect, Refused, Selector, compile

DEVICE = {"driver": "gpu.nvidia.com", "attributes": {"type": {"string": "gpu"}}, "capacity": {"memory": "80Gi"}}
TEN = "[0,1,2,3,4,5,6,7,8,9]"


def nested(depth: int) -> str:
    """So many loops over ten elements within each other, none of which ends early."""
    body = "false"
    for level in range(depth):
        body = f"{TEN}.exists(v{level}, {body})"
    return body


def doubled(times: int) -> str:
    """A text bound to twice itself, again and again."""
    text = '"0123456789"'
    binds = "".join(f"cel.bind(s{n + 1}, s{n} + s{n}, " for n in range(times))
    return f"cel.bind(s0, {text}, {binds}s{times}.size() > 0" + ")" * (times + 1)


def chained(times: int) -> str:
    """A replacement of every character by the whole text, again and again."""
    binds = "".join(f'cel.bind(s{n + 1}, s{n}.replace("", s{n}), ' for n in range(times))
    return f'cel.bind(s0, "0123456789", {binds}s{times}.size() > 0' + ")" * (times + 1)


def deep(levels: int) -> str:
    """A condition of as many nodes per level of nesting as there can be."""
    text = "true"
    for _ in range(levels):
        text = f"(false || true && !!![{text}].all(x, x))"
    return text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (deep(60), "match"),
        (f"optional.of({deep(60)}).optMap(x, x).orValue(false)", "match"),
        (f"({deep(110)}).optMap(x, x).hasValue()", "type"),
        ('"' + "a" * 64 + '".matches("(a+)+b")', "no-match"),
        ('"' + "a" * 64 + '".matches("' + "(a?){64}" * 3 + 'a{64}")', "match"),
        ("(" * 100 + "true" + ")" * 100, "match"),
        ("(" * 249 + "true" + ")" * 249, "match"),
        ("(" * 260 + "true" + ")" * 260, "depth"),
        ("(" * 5000 + "true" + ")" * 5000, "depth"),
        ("[" * 5000, "syntax"),
        ("!" * 5000 + "true", "match"),
        ("!(" * 240 + "true" + ")" * 240, "match"),
        ("-" * 5001 + "1 == -1", "match"),
        (" && ".join(["true"] * 1250), "match"),
        (" || ".join(["false"] * 1100), "no-match"),
        (" + ".join(["1"] * 2000) + " > 0", "depth"),
        ("true ? true : " * 260 + "true", "depth"),
        (nested(4), "no-match"),
        (nested(6), "error"),
        (doubled(60), "error"),
        (chained(8), "error"),
        ("[" + ",".join(["[1]"] * 2500) + "].size() == 2500", "match"),
        ('"' + "x" * 10_000 + '" == device.driver', "no-match"),
        ('"' + "x" * 10_300 + '" == device.driver', "length"),
        ('"' + "ü" * 5_200 + '" == device.driver', "length"),
        ('quantity("1e2000000000").isGreaterThan(quantity("1"))', "match"),
        ('quantity("1e2000000000").add(quantity("1")).isGreaterThan(quantity("1"))', "error"),
        ('quantity("' + "9" * 9000 + '").isGreaterThan(quantity("1"))', "match"),
        ("1" * 5000 + " == 1", "syntax"),
        ("1e" + "9" * 3000 + " == 1.0", "syntax"),
        ("lists.range(9223372036854775807).size() > 0", "error"),
        ('"%.999999999f".format([1.0]) == ""', "error"),
        ('"' + "%s" * 400 + '".format([' + ",".join(['"a"'] * 400) + "]).size() == 400", "match"),
        ("optional.of(1)" + ".optMap(x, x)" * 40 + ".hasValue()", "depth"),
        ('"\U0001f600".size() == 1', "match"),
        ('"\u202e\u0000" == device.driver', "no-match"),
        ("\ud800 == 1", "syntax"),
        ("", "syntax"),
        ("\x00", "syntax"),
        ("// only a comment", "syntax"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_ends_in_an_answer(text: str, said: str) -> None:
    before = sys.getrecursionlimit()
    tracemalloc.start()
    selector = compile.__wrapped__(text, Dialect(36))
    if isinstance(selector, Refused):
        found = selector.kind
    else:
        outcome = selector.matches(DEVICE)
        assert outcome.cost <= 1_000_000 or outcome.verdict == "error"
        found = outcome.verdict
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == said, selector
    assert peak < 150_000_000
    assert sys.getrecursionlimit() == before


def test_admission_refuses_what_could_cost_too_much() -> None:
    refused = compile(nested(6), Dialect(36, environment="new"))
    assert isinstance(refused, Refused)
    assert refused.kind == "cost"
    assert refused.fix


def test_a_smaller_budget_ends_sooner() -> None:
    selector = compile(nested(3))
    assert isinstance(selector, Selector)
    assert selector.matches(DEVICE).verdict == "no-match"
    outcome = selector.matches(DEVICE, budget=100)
    assert (outcome.verdict, outcome.message) == ("error", "operation cancelled: actual cost limit exceeded")
    assert outcome.cost < 200
