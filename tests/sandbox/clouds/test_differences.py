"""Differences between inputs, and which of them replace the resource."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.differences import ReplaceRule, diff_response, differences

RULE = ReplaceRule(frozenset({"nodeConfig", "template.id"}), frozenset({"nodeConfig.labels"}))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 2}, {("a", "update")}),
        ({"a": 1}, {}, {("a", "delete")}),
        ({}, {"a": 1}, {("a", "add")}),
        ({"a": True}, {"a": 1}, {("a", "update")}),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3, 4]}}, {("a.b[1]", "update"), ("a.b[2]", "add")}),
        ({"l": {"nvidia.com/gpu.dra": "true"}}, {"l": {}}, {('l["nvidia.com/gpu.dra"]', "delete")}),
        ({"a": 1, "__defaults": ["a"]}, {"a": 1, "__defaults": []}, set()),
    ],
)
def test_differences_have_paths_and_kinds(
    old: dict[str, Any], new: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    assert {(change.path, change.kind) for change in differences(old, new)} == expected


@pytest.mark.parametrize(
    ("path", "replaces"),
    [
        ("nodeConfig.guestAccelerators[0].count", True),
        ("nodeConfig", True),
        ("nodeConfig.labels", False),
        ('nodeConfig.labels["a.b/c"]', False),
        ("nodeConfigs", False),
        ("template.id", True),
        ("template.version", False),
    ],
)
def test_a_rule_covers_nested_paths_except_exclusions(path: str, replaces: bool) -> None:
    assert RULE.applies_to(path) is replaces


def test_the_response_lists_the_properties_that_replace() -> None:
    old = {"nodeConfig": {"labels": {"a": "1"}, "spot": False}, "size": 1}
    new = {"nodeConfig": {"labels": {"a": "2"}, "spot": True}, "size": 2}

    answer = diff_response(list(differences(old, new)), RULE.replaces)

    kinds = provider_pb2.PropertyDiff.Kind
    assert {path: kinds.Name(found.kind) for path, found in answer.detailedDiff.items()} == {
        "nodeConfig.labels.a": "UPDATE",
        "nodeConfig.spot": "UPDATE_REPLACE",
        "size": "UPDATE",
    }
    assert list(answer.replaces) == ["nodeConfig"]
    assert answer.changes == provider_pb2.DiffResponse.DIFF_SOME


@pytest.mark.parametrize(
    ("old", "new", "replaces"),
    [
        ({}, {"template": {"id": "a", "version": "1"}}, True),
        ({"template": {"id": "a", "version": "1"}}, {}, True),
        ({}, {"template": {"version": "1"}}, False),
        ({}, {"encryption": {"key": "a"}}, False),
        ({"encryption": {"key": "a"}}, {"encryption": {"key": "b"}}, False),
        ({"encryption": {"key": "a"}}, {}, True),
    ],
)
def test_adding_or_removing_an_object_can_replace(
    old: dict[str, Any], new: dict[str, Any], replaces: bool
) -> None:
    rule = ReplaceRule(frozenset({"template.id"}), when_removed=frozenset({"encryption"}))

    assert bool(diff_response(list(differences(old, new)), rule.replaces).replaces) is replaces


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["a", "b"], ["b", "a"], set()),
        (["a", "b"], ["b", "c"], {("s[0]", "update")}),
        (["a", "b"], ["b"], {("s[0]", "delete")}),
        ([{"k": 1}, {"k": 2}], [{"k": 2}, {"k": 1}, {"k": 3}], {("s[0]", "add")}),
    ],
)
def test_the_order_of_a_set_is_ignored(
    old: list[Any], new: list[Any], expected: set[tuple[str, str]]
) -> None:
    found = differences({"s": old}, {"s": new}, sets=("s",))

    assert {(change.path, change.kind) for change in found} == expected


def test_ignored_changes_are_not_differences() -> None:
    found = list(differences({"scaling": {"desired": 1}}, {"scaling": {"desired": 2}}))
    answer = diff_response(found, RULE.replaces, ignored=["scaling.desired"])

    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab.", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert list(differences(value, value)) == []
