"""Selectors in manifests are compiled when the manifests are read, and selectors in a fleet's
DeviceClasses are compiled when the fleet is planned.
"""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.cel import Dialect, Selector, compile
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import check_selector
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.releases import MAXIMUM_MINOR, MINIMUM_MINOR, features_of
from dra_planner.sources import Source

L4 = ("g6.2xlarge", {"min": 0, "max": 4})
LIST = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
OF_THE_DRIVER = 'device.driver == "gpu.nvidia.com"'
LOOPS = (
    f"{LIST}.all(a, {LIST}.all(b, {LIST}.all(c, {LIST}.all(d, {LIST}.all(e, a + b + c + d + e "
    ">= 0)))))"
)
COSTLY = f"{OF_THE_DRIVER} || {LOOPS}"
WRONG_TYPE = "device.driver == 1"
OF_OTHERS = "device.driver == 'fpga.example.com'"
CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: {name}}}
spec:
  selectors: [{{cel: {{expression: {expression}}}}}]
"""


def with_class(*selectors: str, name: str = "own") -> Fleet:
    document = fleet(L4).document()
    return read_fleet({**document, "deviceClasses": [{"name": name, "selectors": list(selectors)}]})


def device_class(expression: str, name: str = "own") -> Source:
    return Source(
        "class.yaml",
        CLASS.format(name=name, expression=f"'{expression.replace(chr(39), chr(39) * 2)}'"),
    )


def with_selector(expression: str) -> Source:
    text = deployment().text.replace(
        "count: 1", f"count: 1, selectors: [{{cel: {{expression: '{expression}'}}}}]"
    )
    return Source("web.yaml", text)


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        (COSTLY, "forbidden-value", "exceeds cost limit"),
        (WRONG_TYPE, "invalid-value", "no matching overload"),
    ],
)
def test_selector_that_the_api_server_rejects_does_not_fit(
    expression: str, code: str, message: str
) -> None:
    plan = plan_of(fleet(L4), with_selector(expression))
    (finding,) = plan.diagnostics
    assert (finding.severity, finding.code) == ("error", code)
    assert message in finding.message
    assert plan.verdict == "does-not-fit"


def test_costly_selector_of_an_existing_object_is_evaluated() -> None:
    """The scheduler compiles without the cost limit, so selectors that the API server once accepted
    continue to work.
    """
    features = features_of(34)
    assert check_selector(COSTLY, features) is not None
    assert isinstance(compile(COSTLY, Dialect.of(features)), Selector)


def test_each_selector_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counting(text: str, dialect: Dialect) -> Any:
        compiled.append(text)
        return compile(text, dialect)

    monkeypatch.setattr("dra_planner.cel.compile", counting)
    check_selector.cache_clear()
    text = with_selector(OF_THE_DRIVER).text
    plan_of(fleet(L4), *(Source(f"{name}.yaml", text.replace("web", name)) for name in "abc"))
    # once as the API server does, once as the scheduler does
    assert compiled.count(OF_THE_DRIVER) <= 2


@pytest.mark.parametrize("minor", range(MINIMUM_MINOR, MAXIMUM_MINOR + 1))
@pytest.mark.parametrize("version", ["25.3.2", "25.8.1", "0.4.1"])
def test_driver_classes_need_no_check(minor: int, version: str) -> None:
    """They are never compiled as new selectors, because the API server accepts them in every
    version.
    """
    document = fleet(L4, kubernetes=f"1.{minor}").document()
    document["drivers"] = {"nvidia": {"version": version}, "dranet": True}
    classes = fleet_classes(read_fleet(document), features_of(minor))
    for each in classes.values():
        assert all(
            check_selector(selector.expression, features_of(minor)) is None
            for selector in each.selectors
        )


def findings_of(where: Fleet, *sources: Source) -> tuple[Diagnostic, ...]:
    plan = plan_of(where, deployment(), *sources)
    assert (plan.verdict == "does-not-fit") == any(
        each.severity == "error" for each in plan.diagnostics
    )
    return plan.diagnostics


@pytest.mark.parametrize(
    ("case", "selectors", "expected"),
    [
        ("all devices", [OF_THE_DRIVER], []),
        (
            "refused for its type",
            [WRONG_TYPE],
            [("error", "class-refused", "deviceClasses[0].selectors[0]")],
        ),
        (
            "refused for its cost",
            [OF_THE_DRIVER, COSTLY],
            [("error", "class-refused", "deviceClasses[0].selectors[1]")],
        ),
        (
            "no such GPU in any pool",
            [f'{OF_THE_DRIVER} && device.attributes["gpu.nvidia.com"].architecture == "Hopper"'],
            [("error", "class-matches-nothing", "deviceClasses[0]")],
        ),
        (
            "another driver's devices",
            [OF_OTHERS],
            [("warning", "class-matches-nothing", "deviceClasses[0]")],
        ),
    ],
)
def test_classes_of_the_fleet_are_validated(
    case: str, selectors: list[str], expected: list[tuple[str, str, str]]
) -> None:
    found = findings_of(with_class(*selectors))
    assert [(each.severity, each.code, each.place.path) for each in found] == expected, case


@pytest.mark.parametrize(
    "written",
    ["device.driver == 'gpu.nvidia.com'", 'device.driver  ==  "gpu.nvidia.com"'],
)
def test_equal_class_in_fleet_and_manifests_is_accepted(written: str) -> None:
    assert findings_of(with_class(OF_THE_DRIVER), device_class(written)) == ()


def test_two_different_classes_of_one_name_are_an_error() -> None:
    l4 = f'{OF_THE_DRIVER} && device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"'
    where = with_class(l4)
    (finding,) = findings_of(where, device_class(OF_OTHERS))
    assert (finding.severity, finding.code) == ("error", "class-differs")
    assert (finding.place.file, finding.place.line) == ("class.yaml", 1)
    assert "deviceClasses[0]" in finding.message
    plan = plan_of(where, deployment(), device_class(OF_OTHERS))
    assert [selector.expression for selector in plan.classes["own"].selectors] == [l4]


def test_driver_class_changed_by_the_manifests_is_an_error() -> None:
    (finding,) = findings_of(fleet(L4), device_class("true", name="gpu.nvidia.com"))
    assert finding.code == "class-differs"
    assert "(drivers)" in finding.message
