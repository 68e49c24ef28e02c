"""The pack checks each of several clusters in a stack separately, so settings of one cluster cause
no findings for another.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace
from test_seeded_faults import FAULTS, changed, findings_of, good

from dra_planner.clouds import cloud as of_cloud
from dra_policies.stack.clusters import clusters_of
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties

PROVIDER = "pulumi:providers:kubernetes"
CLOUDS = ("aks", "eks", "gke")


def named(declare: SimpleNamespace, cloud: str) -> dict[str, Resource]:
    """Return a correct stack, with unique names, whose resources refer to their cluster as they do
    in the engine.
    """
    stack = good(declare, cloud)
    renamed = {
        name: replace(each, urn=f"{each.urn}-{cloud}", name=f"{each.name}-{cloud}")
        for name, each in stack.items()
    }
    cluster, plan = renamed["cluster"].urn, renamed["plan"].urn
    provider = declare.resource(PROVIDER, f"in-{cloud}", {}, sources={"kubeconfig": (cluster,)})
    renamed["cluster"] = replace(renamed["cluster"], depends_on=(plan,))
    for name, each in renamed.items():
        if each.type.startswith("kubernetes:"):
            renamed[name] = replace(each, provider=provider.urn)
        elif name == "pool":
            renamed[name] = replace(
                each, sources={**each.sources, of_cloud(cloud).pool.cluster: (cluster,)}
            )
    return {f"{cloud}-{name}": each for name, each in {"provider": provider, **renamed}.items()}


def on_each(declare: SimpleNamespace) -> dict[str, Resource]:
    return {short: each for cloud in CLOUDS for short, each in named(declare, cloud).items()}


def test_each_resource_is_in_the_group_of_its_cluster(declare: SimpleNamespace) -> None:
    stack = on_each(declare)
    shared = declare.resource("aws:ec2/vpc:Vpc", "network", {})
    names = {each.urn: name for name, each in stack.items()} | {shared.urn: "shared"}

    groups = [
        {names[each.urn] for each in group}
        for group in clusters_of([*stack.values(), shared]).groups
    ]

    assert sorted(map(sorted, groups)) == sorted(
        sorted(
            {*(name for name in names.values() if name.startswith(cloud)), "shared"}
            | _for_all(names, cloud)
        )
        for cloud in CLOUDS
    )


def _for_all(names: dict[str, str], cloud: str) -> set[str]:
    """A launch template belongs to no cluster."""
    return {name for name in names.values() if name.endswith("-template")}


def test_one_cluster_is_one_group(declare: SimpleNamespace) -> None:
    stack = tuple(named(declare, "eks").values())
    assert clusters_of(stack).groups == (stack,)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_pool_may_refer_to_its_cluster_by_name(declare: SimpleNamespace, cloud: str) -> None:
    paths = of_cloud(cloud)
    good_one = good(declare, cloud)
    cluster = good_one["cluster"].props.values
    clusters = {
        name: declare.resource(paths.cluster.token, name, {**cluster, paths.cluster.name: name})
        for name in ("one", "two")
    }
    pool = replace(
        good_one["pool"],
        props=Properties({**good_one["pool"].props.values, paths.pool.cluster: "two"}),
    )

    groups = clusters_of([*clusters.values(), pool]).groups

    assert groups == ((clusters["one"],), (clusters["two"], pool))


def test_valid_clusters_have_no_findings(declare: SimpleNamespace) -> None:
    assert findings_of(on_each(declare)) == []


ONE_OF_EACH = [
    "GKE nodes of 1.32",
    "an unpinned driver",
    "no override",
    "a version with a known fault",
    "a version with a known fault on GKE",
    "no toleration",
    "no toleration on GKE",
    "the default root on GKE",
    "the root of COS on EKS",
    "an endpoint open to the world",
    "GKE open to the world",
    "an image without a driver",
    "AKS nodes of 1.33",
    "no toleration on AKS",
    "AKS open to the world",
    "AKS nodes without a driver",
]


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_fault_in_one_cluster_is_reported_once_for_its_object(
    declare: SimpleNamespace, name: str
) -> None:
    cloud, which, path, value, rule, level, words = FAULTS[name]
    stack = on_each(declare)
    key = f"{cloud}-{which}"

    found = findings_of({**stack, key: changed(stack[key], path, value)})

    ((_, its_level, where, sentence),) = [entry for entry in found if entry[0] == rule]
    assert (its_level, where) == (level, key)
    assert words in sentence


def test_one_driver_per_cluster_is_accepted(declare: SimpleNamespace) -> None:
    stack = on_each(declare)
    second = declare.release(
        "nvidia-dra-driver-gpu", {}, name="second", namespace="b", version="25.8.1"
    )
    assert "driver-installed-twice" not in {rule for rule, *_ in findings_of(stack)}

    found = findings_of({**stack, "second": replace(second, provider=stack["gke-provider"].urn)})

    assert [where for rule, _, where, _ in found if rule == "driver-installed-twice"] != []


def test_an_object_of_an_ambiguous_cluster_is_reported_and_skipped(
    declare: SimpleNamespace,
) -> None:
    stack = on_each(declare)
    stack["eks-driver"] = replace(stack["eks-driver"], provider="")

    found = [
        (rule, level, where)
        for rule, level, where, _ in findings_of(stack)
        if where == "eks-driver"
    ]

    assert found == [("stack-cannot-be-judged", "advisory", "eks-driver")]
