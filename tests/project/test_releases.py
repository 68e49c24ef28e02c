"""Each Kubernetes minor version has one complete record, and only the records compare versions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import fields

from dra_planner.allocation.behaviour import BEHAVIOURS
from dra_planner.cel.dialect import LIBRARIES
from dra_planner.errors import UnsupportedFeature
from dra_planner.manifests.schema import recorded_minors
from dra_planner.releases import (
    CHANGES,
    GATES,
    MAXIMUM_MINOR,
    MINIMUM_MINOR,
    PREVIEWS,
    RELEASES,
    Features,
    features_of,
    parse_version,
)

ROOT = Path(__file__).parents[2]
SHIPPED = ("planner", "policies", "components", "command", "sandbox", "tutorials")
MAY_COMPARE = (
    "planner/dra_planner/releases/",
    "planner/dra_planner/cel/dialect.py",
    # rows of a table apply to a range of minor versions
    "planner/dra_planner/drivers/protocol/notes.py",
    "planner/dra_planner/catalog/kubernetes_support.py",  # end dates of versions
    # objects that the API server of each minor version rejects
    "planner/dra_planner/manifests/validation/",
)


def comparisons(source: str) -> Iterator[int]:
    """Yield the lines that compare a minor version."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(
            isinstance(each, ast.Is | ast.IsNot) for each in node.ops
        ):
            continue
        if isinstance(node, ast.Compare) and any(
            _is_minor(side) for side in (node.left, *node.comparators)
        ):
            yield node.lineno


def _is_minor(node: ast.AST) -> bool:
    name = (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )
    return name.strip("_") == "minor"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("if features.minor >= 35: pass", [1]),
        ("ok = 36 < minor", [1]),
        ("late = self._minor in (36, 37)", [1]),
        ("if minor:\n    x = minor == 34", [2]),
        ("if features.counter_sets_apart: pass", []),
    ],
)
def test_comparison_of_minor_versions_is_found(source: str, lines: list[int]) -> None:
    assert list(comparisons(source)) == lines


def test_only_releases_package_compares_minor_versions() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in SHIPPED
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(MAY_COMPARE)
        for line in comparisons(path.read_text("utf-8"))
    ]
    assert found == []


def test_every_field_is_a_gate_or_a_change_without_a_default() -> None:
    own = {"minor", "latest_patch", "served"}
    assert {field.name for field in fields(Features)} == own | GATES.keys() | CHANGES.keys()
    with pytest.raises(TypeError, match="Missing"):
        Features(minor=38)  # type: ignore[call-arg]


@pytest.mark.parametrize("release", RELEASES.values(), ids=lambda release: release.version)
def test_gate_is_off_if_unknown_and_on_if_locked(release: Features) -> None:
    for name, gate in GATES.items():
        if not gate.is_known(release.minor):
            assert not getattr(release, name), gate.name
        if gate.is_locked(release.minor):
            assert getattr(release, name), gate.name


def test_tables_per_minor_version_have_the_same_versions() -> None:
    assert tuple(RELEASES) == tuple(range(min(RELEASES), max(RELEASES) + 1))
    kept = (*RELEASES, *PREVIEWS)
    assert tuple(BEHAVIOURS) == kept
    assert tuple(LIBRARIES) == kept
    assert recorded_minors() == kept


def test_every_change_differs_between_releases() -> None:
    for name in CHANGES:
        assert len({getattr(release, name) for release in RELEASES.values()}) > 1, name


@pytest.mark.parametrize(
    "version", [f"1.{MINIMUM_MINOR - 1}", f"1.{max(PREVIEWS) + 1}", f"1.{max(PREVIEWS) + 1}.2"]
)
def test_unsupported_release_is_rejected(version: str) -> None:
    with pytest.raises(UnsupportedFeature) as refused:
        parse_version(version)
    assert (
        refused.value.fix == "use a version from 1.34 (the first with resource.k8s.io/v1) to "
        f"1.{MAXIMUM_MINOR}"
    )


def test_only_gates_can_be_switched() -> None:
    assert features_of(36).with_gates(list_attributes=True).list_attributes
    with pytest.raises(TypeError, match="declared_validation"):
        features_of(36).with_gates(declared_validation=True)
