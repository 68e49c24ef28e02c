"""Advice for rejected selectors: the expression in the advice can be used as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from dialects import new, stored

from dra_planner.cel import Dialect, RejectedSelector, Selector, compile, explain
from dra_planner.cel.advice.version_comparisons import compared_as_text

DOMAIN = 'device.attributes["gpu.nvidia.com"]'
CAPACITY = 'device.capacity["gpu.nvidia.com"]'
MEMORY = f"{CAPACITY}.memory"
NEW = new()
OF_DRIVER = 'device.driver == "gpu.nvidia.com"'

CONDITIONS = [
    # quantities
    (f'{MEMORY} >= quantity("40Gi")', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f'{MEMORY} > "40Gi"', f'{MEMORY}.compareTo(quantity("40Gi")) > 0'),
    (f"{MEMORY} < 40", f'{MEMORY}.compareTo(quantity("40")) < 0'),
    (f'"40Gi" <= {MEMORY}', f'quantity("40Gi").compareTo({MEMORY}) <= 0'),
    (f'{MEMORY} == "80Gi"', f'{MEMORY} == quantity("80Gi")'),
    (f'{MEMORY} != "80Gi"', f'!({MEMORY} == quantity("80Gi"))'),
    (f'{MEMORY} != quantity("80Gi")', f'!({MEMORY} == quantity("80Gi"))'),
    (
        f'{MEMORY} in ["40Gi", "80Gi"]',
        f'{MEMORY} == quantity("40Gi") || {MEMORY} == quantity("80Gi")',
    ),
    (f'{MEMORY}.isGreaterThan("40Gi")', f'{MEMORY}.isGreaterThan(quantity("40Gi"))'),
    (f"{MEMORY}.isLessThan(40)", f'{MEMORY}.isLessThan(quantity("40"))'),
    (f'{MEMORY}.compareTo("40Gi") > 0', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f"{MEMORY}.sign() == 1", f"sign({MEMORY}) == 1"),
    (MEMORY, f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f'{DOMAIN}.memory >= quantity("40Gi")', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f'{DOMAIN}.memory.isGreaterThan("40Gi")', f'{MEMORY}.isGreaterThan(quantity("40Gi"))'),
    (f"{DOMAIN}.memory >= 40Gi", f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f"{MEMORY} < 8.5G", f'{MEMORY}.compareTo(quantity("8.5G")) < 0'),
    # versions
    (
        f'{DOMAIN}.driverVersion >= semver("550.0.0")',
        f'{DOMAIN}.driverVersion.compareTo(semver("550.0.0")) >= 0',
    ),
    (
        f'{DOMAIN}.driverVersion.isGreaterThan("550.0.0")',
        f'{DOMAIN}.driverVersion.isGreaterThan(semver("550.0.0"))',
    ),
    (
        f'{DOMAIN}.driverVersion.isGreaterThan("550")',
        f'{DOMAIN}.driverVersion.isGreaterThan(semver("550", true))',
    ),
    ('semver("1.2.3") == "1.2.4"', 'semver("1.2.3") == semver("1.2.4")'),
    # domains
    ('device.attributes.productName == "x"', f'{DOMAIN}.productName == "x"'),
    ('device.attributes["productName"] == "x"', f'{DOMAIN}.productName == "x"'),
    (
        'device.attributes["example.com/model"] == "x"',
        'device.attributes["example.com"].model == "x"',
    ),
    ("device.capacity.memory > 5", f'{MEMORY}.compareTo(quantity("5")) > 0'),
    (
        'device.capacity.memory.isGreaterThan(quantity("1"))',
        f'{MEMORY}.isGreaterThan(quantity("1"))',
    ),
    # names
    (f'{DOMAIN}.productName.matchs("H100")', f'{DOMAIN}.productName.matches("H100")'),
    (f'{DOMAIN}.productName.startWith("H100")', f'{DOMAIN}.productName.startsWith("H100")'),
    ('"H100" in device.driver', 'device.driver.contains("H100")'),
    ("True", "true"),
    # slips
    ("device.driver == “gpu.nvidia.com”", 'device.driver == "gpu.nvidia.com"'),
    ("device.driver == ‘gpu’", "device.driver == 'gpu'"),
    ('device.driver = "x"', 'device.driver == "x"'),
    ('device.driver === "a = b"', 'device.driver == "a = b"'),
    ('device.driver <> "x"', 'device.driver != "x"'),
    ("1 => 0", "1 >= 0"),
    ('device.driver == "a and b" and true', 'device.driver == "a and b" && true'),
    ('device.driver == "a" or not true', 'device.driver == "a" || !true'),
    ('not (device.driver == "a")', '!(device.driver == "a")'),
    ("true & true", "true && true"),
    ("true | true", "true || true"),
    ("(true && (true)", "(true && (true))"),
    ("true)", "true"),
    ("(device.driver = “a” and true", '(device.driver == "a" && true)'),
    ("", 'device.driver == "gpu.nvidia.com"'),
]
PARTS = [
    ('device.atributes["gpu.nvidia.com"].type == "gpu"', "device.attributes"),
    ('device.drivr == "x"', "device.driver"),
    ('devce.driver == "x"', "device"),
    ("device.memory > 5", MEMORY),
    ("device.model == 5", f"{DOMAIN}.model"),
    ('driver == "x"', "device.driver"),
]


_REWRITE = re.compile(r"(?:^use |: |; use |example |did you mean )(.+?)(?:, because .*|\?)?$")
"""How a fix introduces an expression, and what can follow."""


def advised(text: str) -> str:
    """The expression in the advice for a rejected selector."""
    refused = compile(text, NEW)
    assert isinstance(refused, RejectedSelector), refused
    assert refused.fix is not None
    found = _REWRITE.search(refused.fix)
    assert found, refused.fix
    return found[1]


@pytest.mark.parametrize(("text", "rewrite"), CONDITIONS)
def test_suggested_condition_compiles(text: str, rewrite: str) -> None:
    assert advised(text) == rewrite
    assert isinstance(compile(rewrite, NEW), Selector)


@pytest.mark.parametrize(("text", "part"), PARTS)
def test_suggested_part_compiles(text: str, part: str) -> None:
    assert advised(text) == part
    assert isinstance(compile(f"[{part}].size() == 1", NEW), Selector)


# a rejected selector, the advice about it, and the selector after following the advice (None
# without advice) known
RULES = [
    (DOMAIN, "use both levels of attributes and capacity", f'{DOMAIN}.productName == "x"'),
    ("dyn(1)", "compare the expression with a value, or remove dyn()", "dyn(1) == 1"),
    (
        "1",
        "compare the expression with a value, because a selector must be true or false",
        "1 == 1",
    ),
    ('"a" < 1', "compare two numbers, because a string and a number don't have an order", "2 < 1"),
    ("1 == 1.0", "use numbers of the same type (1 or 1.0)", "1.0 == 1.0"),
    ("if true", None, "true"),
    (
        'device.driver == "a" and (',
        "the operators are &&, ||, and !",
        'device.driver == "a" && (true)',
    ),
    ("math.abs(1) == 1", "remove math, which device selectors don't support", "1 == 1"),
    ("dyn(device.driver) == None", "use null", "dyn(device.driver) == null"),
    (
        f'{MEMORY} >= "lots"',
        "use a.compareTo(b) >= 0, because quantities don't support >=",
        f'{MEMORY}.compareTo(quantity("1Gi")) >= 0',
    ),
    (
        f'{MEMORY}.isGreaterThan("lots")',
        "convert the string: isGreaterThan(",
        f'{MEMORY}.isGreaterThan(quantity("1Gi"))',
    ),
    (
        f'{DOMAIN}.driverVersion.isGreaterThan(version("550.0.0"))',
        'compare versions as semver: semver("550.0.0")',
        f'{DOMAIN}.driverVersion.isGreaterThan(semver("550.0.0"))',
    ),
    ('size("a").matches("b")', "use matches only on strings", '"a".matches("b")'),
    (
        f'{MEMORY} in ["lots"]',
        "compare with each quantity separately, because the list contains strings",
        f'{MEMORY} == quantity("1Gi")',
    ),
    (f"{MEMORY} <= ", "complete the expression", f'{MEMORY}.compareTo(quantity("1Gi")) >= 0'),
    ('semver("1.2.3")', "compare the version: ", 'semver("1.2.3").compareTo(semver("1.2.3")) >= 0'),
    (
        "optional.of(true)",
        "publish this value: optional.of(true).orValue(false)",
        "optional.of(true).orValue(false)",
    ),
    (
        "[optional.of(true)].map(x, x)[0]",
        "publish this value: .orValue(false)",
        "[optional.of(true)].map(x, x)[0].orValue(false)",
    ),
    (
        '[quantity("1")].map(x, x)[0] != quantity("1")',
        "use !(a == b) instead of a != b",
        '!([quantity("1")].map(x, x)[0] == quantity("1"))',
    ),
    (
        " && ".join([OF_DRIVER] * 400),
        "split the condition into several selectors, which must all match",
        " && ".join([OF_DRIVER] * 200),
    ),
    (
        'string(size("a")).matches("b")',
        "read the attributes by name instead of looping over all attributes",
        f'{DOMAIN}.productName.matches("b")',
    ),
]


@pytest.mark.parametrize(("text", "advised", "better"), RULES, ids=lambda text: str(text)[:40])
def test_without_a_rewrite_the_reported_rule_can_be_followed(
    text: str, advised: str | None, better: str
) -> None:
    refused = compile(text, NEW)
    assert isinstance(refused, RejectedSelector)
    assert (refused.fix is None) == (advised is None)
    assert advised is None or advised in (refused.fix or "")
    assert isinstance(compile(better, NEW), Selector)


RELEASES = [  # selectors that a later Kubernetes version or a feature gate accepts unchanged
    ("[1, 1].distinct().size() == 1", "use this function only in 1.35 and later", new(34), new(35)),
    (
        "device.allowMultipleAllocations == true",
        "enable the feature gate DRAConsumableCapacity",
        new(34),
        NEW,
    ),
    (
        f'{DOMAIN}.productName.includes("x")',
        "enable the feature gate DRAListTypeAttributes (1.36 and later), which this function needs",
        NEW,
        new(36, list_attributes=True),
    ),
]


@pytest.mark.parametrize(
    ("text", "advised", "here", "there"), RELEASES, ids=lambda each: str(each)[:40]
)
def test_expression_compiles_with_the_required_version_or_gate(
    text: str, advised: str, here: Dialect, there: Dialect
) -> None:
    refused = compile(text, here)
    assert isinstance(refused, RejectedSelector)
    assert advised in (refused.fix or "")
    assert isinstance(compile(text, there), Selector)


def advice() -> Iterator[str]:
    """Yield the advice for every rejected selector here. The tests above follow each of them."""
    compiled = [compile(text, NEW) for text, *_ in (*CONDITIONS, *PARTS, *RULES)]
    compiled += [compile(text, here) for text, _, here, _ in RELEASES]
    yield from (each.fix for each in compiled if isinstance(each, RejectedSelector) and each.fix)


GPU = {
    "driver": "gpu.nvidia.com",
    "attributes": {"driverVersion": {"version": "550.54.15"}},
    "capacity": {"memory": "80Gi", "encoders": "3"},
}


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            f'{DOMAIN}.driverVersion == "550.54.15"',
            f'Use {DOMAIN}.driverVersion == semver("550.54.15")',
        ),
        (
            f'{DOMAIN}.driverVersion == "550"',
            f'Use {DOMAIN}.driverVersion == semver("550", true)',
        ),
        (
            f'{DOMAIN}.encoders.isGreaterThan(quantity("1"))',
            f"encoders is a capacity. Use {CAPACITY}.encoders",
        ),
    ],
)
def test_condition_that_fails_on_every_device_is_a_warning(text: str, warning: str) -> None:
    selector = compile(text, stored())
    assert isinstance(selector, Selector)
    (found,) = explain(selector, [GPU]).warnings
    assert found.endswith(warning)


VERSIONS = [  # a comparison with a value that isn't a version, and its replacement
    ('cudaComputeCapability >= "8.0"', 'cudaComputeCapability.compareTo(semver("8.0.0")) >= 0'),
    ("cudaComputeCapability < 9", 'cudaComputeCapability.compareTo(semver("9.0.0")) < 0'),
    ('cudaDriverVersion == "12.4.0"', 'cudaDriverVersion == semver("12.4.0")'),
    ('cudaDriverVersion == "v12.4"', 'cudaDriverVersion == semver("12.4.0")'),
    ('driverVersion.startsWith("580")', "driverVersion.major() == 580"),
    ('driverVersion.matches("^580")', ""),
    ('driverVersion == "newest"', ""),
]


@pytest.mark.parametrize(("text", "better"), VERSIONS)
def test_version_compared_with_text_is_rewritten(text: str, better: str) -> None:
    selector = compile(f"{DOMAIN}.{text}", NEW)
    assert isinstance(selector, Selector)
    names = {
        ("gpu.nvidia.com", name)
        for name in ("driverVersion", "cudaDriverVersion", "cudaComputeCapability")
    }
    ((condition, written),) = compared_as_text(selector.tree, names)
    assert (condition, written) == (f"{DOMAIN}.{text}", better and f"{DOMAIN}.{better}")
    device = {
        "driver": "gpu.nvidia.com",
        "attributes": {name: {"version": "12.4.0"} for _, name in names},
        "capacity": {},
    }
    assert selector.matches(device).verdict == "error"
    if better:
        rewritten = compile(written, NEW)
        assert isinstance(rewritten, Selector)
        assert rewritten.matches(device).verdict in ("match", "no-match")
