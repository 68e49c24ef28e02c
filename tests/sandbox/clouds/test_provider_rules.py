"""How the providers handle changes of one property, and the tables of these results.

Google's first 190 answers were recorded from the provider, the others follow from its source
(hashicorp/terraform-provider-google:google/services/container@v7.45.0, with the functions that
validate, suppress, and customize differences). Those of AWS follow from its source
(hashicorp/terraform-provider-aws:internal/service/eks/node_group.go@012e0a32 and
addon.go@00a35305), those of Azure from
pulumi/pulumi-azure-native:provider/pkg/gen/replacement.go@1b7112a and …/provider/diff.go@03707ff,
which updates whatever isn't in that list.
"""

from __future__ import annotations

import copy
import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.provider_rules import PropertyRule, ProviderRules, read_rules
from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.wire_values import to_wire

RECORDED = Path(__file__).parent / "provider_changes"
SETTINGS = {
    "gcp": {"project": "my-project", "region": "us-central1"},
    "aws": {"region": "us-east-1"},
    "azure-native": {
        "location": "eastus",
        "subscriptionId": "00000000-0000-0000-0000-000000000001",
    },
}
BASES = {
    (cloud, name): base
    for cloud in SETTINGS
    for name, base in json.loads((RECORDED / f"{cloud}_bases.json").read_text()).items()
}
CHANGES = [
    {"cloud": cloud, **row}
    for cloud in SETTINGS
    for row in csv.DictReader((RECORDED / f"{cloud}_changes.csv").read_text().splitlines())
]
TABLES = ("aws", "gcp")
FIRST_POOL = ["initialNodeCount", "nodeConfig", "removeDefaultNodePool"]
SSDS = ["nodeConfig.ephemeralStorageLocalSsdConfig"]
OMITTED = {"required", "kept", "default", "removed", "if_enabled"}


@pytest.fixture(scope="module")
def providers(simulated: Any) -> dict[str, Any]:
    found = {cloud: simulated(cloud) for cloud in SETTINGS}
    for cloud, client in found.items():
        client.Configure(provider_pb2.ConfigureRequest(args=to_wire(SETTINGS[cloud])))
    return found


def answer(
    provider: Any, token: str, old: dict[str, Any], new: dict[str, Any], ignored: list[str]
) -> str:
    """Return the provider's result for a change: none, update, replace, or refused."""
    urn = f"urn:pulumi:dev::p::{token}::T"

    def check(inputs: dict[str, Any]) -> Any:
        request = provider_pb2.CheckRequest(
            urn=urn, news=to_wire(inputs), randomSeed=b"seed", name="T"
        )
        return provider.Check(request)

    before, after = check(old), check(new)
    assert not before.failures
    if after.failures:
        return "refused"
    found = provider.Diff(
        provider_pb2.DiffRequest(
            urn=urn,
            olds=before.inputs,
            old_inputs=before.inputs,
            news=after.inputs,
            ignoreChanges=ignored,
        )
    )
    if found.replaces:
        return "replace"
    return "update" if found.changes == provider_pb2.DiffResponse.DIFF_SOME else "none"


def changed(inputs: dict[str, Any], path: str, value: str) -> dict[str, Any]:
    new = copy.deepcopy(inputs)
    *parents, last = re.findall(r"\w+", path)
    place: Any = new
    for part in parents:
        place = place[int(part)] if part.isdigit() else place.setdefault(part, {})
    if value == "removed":
        place.pop(last, None)
    else:
        place[last] = json.loads(value)
    return new


def ignored_by_components(base: str, path: str) -> list[str]:
    ignored = SSDS if base.startswith("NodePool") else FIRST_POOL
    return [each for each in ignored if not path.startswith(each)]


@pytest.mark.parametrize(
    "row", CHANGES, ids=lambda row: f"{row['base']}: {row['property']}={row['value'][:30]}"
)
def test_a_change_has_the_same_effect_as_with_the_real_provider(
    providers: dict[str, Any], row: dict[str, str]
) -> None:
    base = BASES[row["cloud"], row["base"]]
    old = base["inputs"]
    for path, value in json.loads(row.get("before") or "{}").items():
        old = changed(old, path, json.dumps(value))
    new = changed(old, row["property"], row["value"])
    ignored = ignored_by_components(row["base"], row["property"]) if row["cloud"] == "gcp" else []
    assert answer(providers[row["cloud"]], base["type"], old, new, ignored) == row["provider"]


@pytest.mark.parametrize("place", BASES, ids=lambda place: " ".join(place))
def test_unchanged_inputs_have_no_differences(
    providers: dict[str, Any], place: tuple[str, str]
) -> None:
    base, ignored = BASES[place], SSDS if place[0] == "gcp" else []
    assert (
        answer(providers[place[0]], base["type"], base["inputs"], base["inputs"], ignored) == "none"
    )


@pytest.mark.parametrize("cloud", TABLES)
def test_every_row_has_an_sdk_property_and_a_source(cloud: str) -> None:
    for token, rules in read_rules(cloud).items():
        schema = Sdk(cloud).resource(token)
        for path, rule in rules.properties.items():
            assert path.split(".")[0].removesuffix("[*]") in schema.inputs, (token, path)
            assert rule.omitted in OMITTED, (token, path)
            assert rule.file, (token, path)
            assert (rule.omitted == "default") == (rule.default is not None), (token, path)
            assert not rule.zero_beside or path.startswith(f"{rule.zero_beside}."), (token, path)
            others = {*rule.conflicts, *rule.one_of, *rule.any_of, *rule.needs}
            assert all(other.split(".")[0] in schema.inputs for other in others), (token, path)


def _rules(**properties: dict[str, Any]) -> ProviderRules:
    usual: dict[str, Any] = {
        "kind": "plain",
        "omitted": "removed",
        "default": None,
        "replaces": False,
    }
    empty: dict[str, Any] = {
        "conflicts": (),
        "one_of": (),
        "any_of": (),
        "needs": (),
        "zero_beside": "",
        "accepts": "",
        "same": "",
        "file": "x",
    }
    return ProviderRules(
        {name: PropertyRule(**{**usual, **empty, **given}) for name, given in properties.items()}
    )


@pytest.mark.parametrize(
    ("rule", "old", "new", "state", "kinds"),
    [
        pytest.param({}, {"a": 1}, {}, {}, ["delete"], id="a property that is removed"),
        pytest.param(
            {"omitted": "kept"}, {"a": 1}, {}, {}, [], id="a property that the cloud computes"
        ),
        pytest.param({}, {"a": False}, {}, {}, [], id="zero and omitted are the same"),
        pytest.param({}, {}, {"a": False}, {}, [], id="omitted and zero are the same"),
        pytest.param(
            {"omitted": "default", "default": 3}, {"a": 3}, {}, {}, [], id="the default, omitted"
        ),
        pytest.param(
            {"omitted": "default", "default": 3},
            {"a": 4},
            {},
            {},
            ["update"],
            id="back to the default",
        ),
        pytest.param(
            {"omitted": "kept"}, {}, {"a": 2}, {"a": 2}, [], id="the cloud's current value"
        ),
        pytest.param(
            {"omitted": "kept"},
            {},
            {"a": 2},
            {"a": 3},
            ["add"],
            id="another value than the cloud's",
        ),
        pytest.param(
            {"kind": "set"}, {"a": [1, 2]}, {"a": [2, 1]}, {}, [], id="a list without order"
        ),
    ],
)
def test_omission_of_a_property_has_the_expected_effect(
    rule: dict[str, Any],
    old: dict[str, Any],
    new: dict[str, Any],
    state: dict[str, Any],
    kinds: list[str],
) -> None:
    assert [each.kind for each in _rules(a=rule).differences(old, new, state)] == kinds


def test_a_sibling_property_adds_a_zero_value() -> None:
    rules = _rules(net={}, **{"net.private": {"zero_beside": "net", "omitted": "kept"}})
    assert rules.sent({"net": {"profile": "auto"}}) == {
        "net": {"private": False, "profile": "auto"}
    }
    assert rules.sent({"net": {"private": True}}) == {"net": {"private": True}}
    assert rules.sent({}) == {}
    changed = rules.differences(
        {"net": {"profile": "auto"}}, {"net": {"profile": "auto", "private": True}}, {}
    )
    assert [(each.path, each.kind) for each in changed] == [("net.private", "update")]


def test_a_member_that_replaces_also_replaces_if_its_object_is_added() -> None:
    rules = _rules(policy={}, **{"policy.name": {"replaces": "yes"}, "policy.size": {}})
    added = list(rules.differences({}, {"policy": {"name": "x"}}, {}))
    assert [rules.replaces(each) for each in added] == [True]
    resized = list(rules.differences({}, {"policy": {"size": 2}}, {}))
    assert [rules.replaces(each) for each in resized] == [False]
