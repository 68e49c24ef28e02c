"""Selectors: compilation, evaluation, and grouping, as the interface defines them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from dialects import new, stored
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dra_planner.cel import ALL, DeviceError, Dialect, RejectedSelector, Selector, compile, prepare
from dra_planner.releases import features_of

DOMAIN = 'device.attributes["gpu.nvidia.com"]'
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'


def selector(text: str, dialect: Dialect | None = None) -> Selector:
    compiled = compile(text, dialect or stored())
    assert isinstance(compiled, Selector), compiled
    return compiled


def device(**attributes: Any) -> dict[str, Any]:
    return {"driver": "gpu.nvidia.com", "attributes": attributes, "capacity": {"memory": "80Gi"}}


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("true", set()),
        ('device.driver == "x"', {("driver",)}),
        (f'{DOMAIN}.type == "gpu"', {("attributes", "gpu.nvidia.com", "type")}),
        (f'{DOMAIN}["type"] == "gpu"', {("attributes", "gpu.nvidia.com", "type")}),
        (f"has({DOMAIN}.type)", {("attributes", "gpu.nvidia.com", "type")}),
        (f'{DOMAIN}.?type.orValue("x") == "gpu"', {("attributes", "gpu.nvidia.com", "type")}),
        (f'cel.bind(d, {DOMAIN}, d.type == "gpu" && d.index == 0)',
         {("attributes", "gpu.nvidia.com", "type"), ("attributes", "gpu.nvidia.com", "index")}),
        (f'"type" in {DOMAIN}', {("attributes", "gpu.nvidia.com")}),
        (f'{DOMAIN}.exists(k, k == "type")', {("attributes", "gpu.nvidia.com")}),
        ('"d" in device.attributes', {("attributes",)}),
        (f'{DOMAIN}[device.driver] == "x"', {("attributes", "gpu.nvidia.com"), ("driver",)}),
        ('device.attributes[device.driver].type == "x"', {("attributes",), ("driver",)}),
        (f'{MEMORY}.isGreaterThan(quantity("1"))', {("capacity", "gpu.nvidia.com", "memory")}),
        ("[device].size() == 1", set(ALL)),
        (f'[1].exists(device, device == 1) || {DOMAIN}.type == "x"', {("attributes", "gpu.nvidia.com", "type")}),
    ],
)  # fmt: skip
def test_reads_are_the_attribute_paths(text: str, reads: set[tuple[str, ...]]) -> None:
    assert selector(text).reads == reads


def test_offset_points_to_the_fault() -> None:
    refused = compile("true && nothing == 1", stored())
    assert isinstance(refused, RejectedSelector)
    assert "true && nothing == 1"[refused.offset :].startswith("nothing")


def test_new_expressions_may_use_the_library_of_the_previous_version() -> None:
    text = "[3, 1].sort() == [1, 3]"
    assert isinstance(compile(text, new(34)), RejectedSelector)
    assert isinstance(compile(text, stored(34)), Selector)
    assert isinstance(compile(text, new(35)), Selector)


def test_gates_affect_fields_only_in_new_expressions() -> None:
    text = "device.allowMultipleAllocations"
    off = {"consumable_capacity": False}
    assert isinstance(compile(text, new(36, **off)), RejectedSelector)
    assert isinstance(compile(text, stored(36, **off)), Selector)
    assert isinstance(compile(text, new(35)), RejectedSelector)
    assert isinstance(compile(text, new(36)), Selector)


def test_unsupported_minor_version_has_no_dialect() -> None:
    for minor in (33, 39):
        with pytest.raises(ValueError, match=f"Kubernetes 1.{minor} is unknown"):
            Dialect.of(replace(features_of(36), minor=minor), "stored")


@pytest.mark.parametrize("wrong", [None, 5, "device", object()])
def test_invalid_device_is_an_error(wrong: object) -> None:
    with pytest.raises(DeviceError):
        selector("true").matches(wrong)


def test_invalid_version_attribute_fails_every_selector() -> None:
    outcome = selector("true").matches(device(cc={"version": "9.0"}))
    assert outcome.verdict == "error"
    assert outcome.message.startswith("attribute cc: parse semantic version")


def test_quantities_of_a_device_keep_their_form_between_evaluations() -> None:
    prepared = prepare(device())
    changing = selector(f'{MEMORY}.isLessThan(quantity("1Ei")) && !{MEMORY}.isInteger()')
    # comparing with a big quantity changes the form, as upstream
    assert changing.matches(prepared).verdict == "match"
    assert selector(f"{MEMORY}.isInteger()").matches(prepared).verdict == "match"


VALUES = st.one_of(
    st.builds(lambda v: {"string": v}, st.sampled_from(["gpu", "mig", ""])),
    st.builds(lambda v: {"int": v}, st.integers(-2, 2)),
    st.builds(lambda v: {"bool": v}, st.booleans()),
    st.builds(lambda v: {"version": v}, st.sampled_from(["1.0.0", "1.0.0-rc.1"])),
    st.just({"unknown": True}),
)
DEVICES = st.dictionaries(st.sampled_from(["type", "index", "uuid", "ok"]), VALUES).map(
    lambda a: device(**a)
)
TEXTS = st.sampled_from(
    [
        f'{DOMAIN}.type == "gpu"',
        f'{DOMAIN}.type == "gpu" || {DOMAIN}.ok',
        f"has({DOMAIN}.index) && {DOMAIN}.index > 0",
        f'{DOMAIN}.exists(k, k == "ok")',
        f'{DOMAIN}.all(k, v, v != "mig")',
        f'{DOMAIN}.?type.orValue("x") in ["x", "gpu"]',
        f"{DOMAIN}.size() == 2",
    ]
)


@given(st.lists(DEVICES, max_size=8), TEXTS)
def test_grouped_outcomes_equal_individual_outcomes(
    devices: list[dict[str, Any]], text: str
) -> None:
    judge = selector(text)
    assert judge.outcomes(devices) == [judge.matches(d) for d in devices]


@given(DEVICES, DEVICES, TEXTS)
def test_equal_projections_have_equal_outcomes(
    a: dict[str, Any], b: dict[str, Any], text: str
) -> None:
    judge = selector(text)
    if judge.projection(a) == judge.projection(b):
        assert judge.matches(a) == judge.matches(b)


@given(DEVICES, TEXTS)
def test_cost_never_exceeds_the_estimate(a: dict[str, Any], text: str) -> None:
    judge = selector(text)
    assert judge.matches(a).cost <= judge.estimated_cost


def loaded_after(code: str) -> set[str]:
    code += "; import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "text",
    ["1 + 2 * 3 == 7", "7 / 2 == 3 && -7 % 3 == -1", '"ab" + "c" == "abc"', "[1, 2, 3].exists(x, x > 2)",
     "!(1 > 2) || 1 / 0 == 1", '"abc".startsWith("ab") ? true : false', 'size("grün") == 4', "[1, 2].all(x, x < 2)",
     '{"a": 1}["a"] == 1', "1.5 + 1.5 == 3.0", '"b" in ["a", "b"]', "[1, 2, 3].map(x, x * 2) == [2, 4, 6]"],
)  # fmt: skip
def test_celpy_agrees_on_plain_expressions(text: str) -> None:
    import celpy

    environment = celpy.Environment()
    theirs = environment.program(environment.compile(text)).evaluate({})
    assert (selector(text).matches(device()).verdict == "match") == bool(theirs)


@pytest.mark.parametrize(
    ("text", "verdict", "cost"),
    [
        (f"has({DOMAIN}.?type.index)", "no-match", 3),
        (f"has({DOMAIN}.?missing.type)", "no-match", 2),
        ('has(device.?attributes["gpu.nvidia.com"].type)', "match", 3),
        (f"has({DOMAIN}.type)", "match", 3),
        (f"true ? has({DOMAIN}.?missing.type) : false", "error", 2),
        (f"(true ? has({DOMAIN}.?type.x) : false) || true", "match", 3),
        (f"(true ? has({DOMAIN}.?type.x) : false) || false", "error", 3),
        (f"true ? has({DOMAIN}.type) : false", "match", 3),
        ('dyn(int).matches("i.t")', "match", 1),
        ('dyn(int).contains("i")', "error", 1),
        ("dyn(optional.of(true))", "match", 2),
        ("dyn(optional.of(optional.of(false)))", "no-match", 3),
        ("dyn(optional.none())", "error", 2),
        ("dyn(optional.of(1))", "error", 2),
        (f'{DOMAIN}.missing.format([1]) == "x"', "error", 5),
        ('"%.99999999999f".format([1.5]) == "%!(NOVERB)"', "match", 3),
        ('"%.1000001f".format([0.0 / 0.0]) == "NaN"', "match", 13),
    ],
)
def test_edge_cases_of_random_selectors(text: str, verdict: str, cost: int) -> None:
    outcome = selector(text, stored(list_attributes=True)).matches(
        device(type={"string": "gpu"}, index={"int": 1})
    )
    assert (outcome.verdict, outcome.cost) == (verdict, cost)


UNBOUNDED = 1_844_674_407_370_955_276


@pytest.mark.parametrize(
    ("text", "minor", "estimate"),
    [
        (".device == .device", 36, 2),
        ("cel.bind(x, 1, .device == .device)", 36, 12),
        ("cel.bind(device, 1, .device == .device)", 36, 13),  # the local, in spite of the dot
        ("[1].all(device, .device == .device)", 34, 17),
        # the device, whose size is then unknown
        ("cel.bind(device, 1, .device == .device)", 37, UNBOUNDED),
        ('cel.bind(device, 1, .device.driver == "a")', 37, 13),
        ('[1].all(device, "d" in .device.attributes)', 37, 17),
    ],
)
def test_estimates_for_a_local_named_device_match(text: str, minor: int, estimate: int) -> None:
    assert selector(text, stored(minor)).estimated_cost == estimate
