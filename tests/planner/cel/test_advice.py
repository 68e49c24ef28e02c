"""Advice for refused selectors: what it says to write can be taken as it is."""

from __future__ import annotations

import pytest
from dialects import new, stored

from dra_planner.cel import Refused, Selector, compile, explain

DOMAIN = 'device.attributes["gpu.nvidia.com"]'
CAPACITY = 'device.capacity["gpu.nvidia.com"]'
MEMORY = f"{CAPACITY}.memory"
NEW = new()

CONDITIONS = [
    # quantities
    (f'{MEMORY} >= quantity("40Gi")', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f'{MEMORY} > "40Gi"', f'{MEMORY}.compareTo(quantity("40Gi")) > 0'),
    (f"{MEMORY} < 40", f'{MEMORY}.compareTo(quantity("40")) < 0'),
    (f'"40Gi" <= {MEMORY}', f'quantity("40Gi").compareTo({MEMORY}) <= 0'),
    (f'{MEMORY} == "80Gi"', f'{MEMORY} == quantity("80Gi")'),
    (f'{MEMORY} != "80Gi"', f'!({MEMORY} == quantity("80Gi"))'),
    (f'{MEMORY} != quantity("80Gi")', f'!({MEMORY} == quantity("80Gi"))'),
    (f'{MEMORY} in ["40Gi", "80Gi"]', f'{MEMORY} == quantity("40Gi") || {MEMORY} == quantity("80Gi")'),
    (f'{MEMORY}.isGreaterThan("40Gi")', f'{MEMORY}.isGreaterThan(quantity("40Gi"))'),
    (f"{MEMORY}.isLessThan(40)", f'{MEMORY}.isLessThan(quantity("40"))'),
    (f'{MEMORY}.compareTo("40Gi") > 0', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f"{MEMORY}.sign() == 1", f"sign({MEMORY}) == 1"),
    (MEMORY, f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f'{DOMAIN}.memory >= quantity("40Gi")', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
    (f'{DOMAIN}.memory.isGreaterThan("40Gi")', f'{MEMORY}.isGreaterThan(quantity("40Gi"))'),
    # versions
    (f'{DOMAIN}.driverVersion >= semver("550.0.0")', f'{DOMAIN}.driverVersion.compareTo(semver("550.0.0")) >= 0'),
    (f'{DOMAIN}.driverVersion.isGreaterThan("550.0.0")', f'{DOMAIN}.driverVersion.isGreaterThan(semver("550.0.0"))'),
    (f'{DOMAIN}.driverVersion.isGreaterThan("550")', f'{DOMAIN}.driverVersion.isGreaterThan(semver("550", true))'),
    ('semver("1.2.3") == "1.2.4"', 'semver("1.2.3") == semver("1.2.4")'),
    # domains
    ('device.attributes.productName == "x"', f'{DOMAIN}.productName == "x"'),
    ('device.attributes["productName"] == "x"', f'{DOMAIN}.productName == "x"'),
    ('device.attributes["example.com/model"] == "x"', 'device.attributes["example.com"].model == "x"'),
    ("device.capacity.memory > 5", f'{MEMORY}.compareTo(quantity("5")) > 0'),
    ('device.capacity.memory.isGreaterThan(quantity("1"))', f'{MEMORY}.isGreaterThan(quantity("1"))'),
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
    ('(device.driver = “a” and true', '(device.driver == "a" && true)'),
    ("", 'device.driver == "gpu.nvidia.com"'),
]  # fmt: skip
PARTS = [
    ('device.atributes["gpu.nvidia.com"].type == "gpu"', "device.attributes"),
    ('device.drivr == "x"', "device.driver"),
    ('devce.driver == "x"', "device"),
    ("device.memory > 5", MEMORY),
    ("device.model == 5", f"{DOMAIN}.model"),
    ('driver == "x"', "device.driver"),
]


def advised(text: str) -> str:
    """What the advice for a refused selector says to write."""
    refused = compile(text, NEW)
    assert isinstance(refused, Refused), refused
    assert refused.fix is not None
    _, found, rewrite = refused.fix.partition("write ")
    assert found, refused.fix
    return rewrite


@pytest.mark.parametrize(("text", "rewrite"), CONDITIONS)
def test_the_advised_condition_compiles(text: str, rewrite: str) -> None:
    assert advised(text) == rewrite
    assert isinstance(compile(rewrite, NEW), Selector)


@pytest.mark.parametrize(("text", "part"), PARTS)
def test_the_advised_part_compiles(text: str, part: str) -> None:
    assert advised(text) == part
    assert isinstance(compile(f"[{part}].size() == 1", NEW), Selector)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DOMAIN, "two levels"),
        ("dyn(1)", "compare it with something"),
        ('"a" < 1', "make both numbers"),
        ("1 == 1.0", "same form"),
        ("if true", None),
        ('device.driver == "a" and (', "&&, || and !"),
        ("math.abs(1) == 1", "device selectors have no math"),
    ],
)
def test_where_no_rewrite_is_known_the_rule_is_told(text: str, said: str | None) -> None:
    refused = compile(text, NEW)
    assert isinstance(refused, Refused)
    assert (refused.fix is None) == (said is None)
    assert said is None or said in (refused.fix or "")


GPU = {
    "driver": "gpu.nvidia.com",
    "attributes": {"driverVersion": {"version": "550.54.15"}},
    "capacity": {"memory": "80Gi", "encoders": "3"},
}


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (f'{DOMAIN}.driverVersion == "550.54.15"', f'write {DOMAIN}.driverVersion == semver("550.54.15")'),
        (f'{DOMAIN}.driverVersion == "550"', f'write {DOMAIN}.driverVersion == semver("550", true)'),
        (f'{DOMAIN}.encoders.isGreaterThan(quantity("1"))', f"encoders is a capacity, {CAPACITY}.encoders"),
    ],
)
def test_what_fails_on_every_device_is_told_by_the_explanation(text: str, warning: str) -> None:
    selector = compile(text, stored())
    assert isinstance(selector, Selector)
    (found,) = explain(selector, [GPU]).warnings
    assert found.endswith(warning)
