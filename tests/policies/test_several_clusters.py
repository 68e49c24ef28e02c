"""Two clusters in one stack are judged each by itself: what is right for one is no fault of the other."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from test_seeded_faults import FAULTS, changed, good, told

from dra_policies.stack.clusters import clusters_of
from dra_policies.stack.resource import Resource

PROVIDER = "pulumi:providers:kubernetes"



def named(declare: SimpleNamespace, cloud: str) -> dict[str, Resource]:
    """A good stack whose resources are tied to their cluster as the engine tells it, all names its own."""
    stack = good(declare, cloud)
    renamed = {
        name: replace(each, urn=f"{each.urn}-{cloud}", name=f"{each.name}-{cloud}") for name, each in stack.items()
    }
    cluster, plan = renamed["cluster"].urn, renamed["plan"].urn
    provider = declare.resource(PROVIDER, f"in-{cloud}", {}, sources={"kubeconfig": (cluster,)})
    renamed["cluster"] = replace(renamed["cluster"], depends_on=(plan,))
    for name, each in renamed.items():
        if each.type.startswith("kubernetes:"):
            renamed[name] = replace(each, provider=provider.urn)
        elif name == "pool":
            renamed[name] = replace(each, sources={**each.sources, "clusterName": (cluster,)})
    return {f"{cloud}-{name}": each for name, each in {"provider": provider, **renamed}.items()}


def both(declare: SimpleNamespace) -> dict[str, Resource]:
    return {**named(declare, "eks"), **named(declare, "gke")}


def test_each_resource_is_in_the_group_of_its_cluster(declare: SimpleNamespace) -> None:
    stack = both(declare)
    shared = declare.resource("aws:ec2/vpc:Vpc", "network", {})
    names = {each.urn: name for name, each in stack.items()} | {shared.urn: "shared"}

    groups = [{names[each.urn] for each in group} for group in clusters_of([*stack.values(), shared]).groups]

    assert sorted(map(sorted, groups)) == sorted(
        sorted({*(name for name in names.values() if name.startswith(cloud)), "shared"} | _for_all(names, cloud))
        for cloud in ("eks", "gke")
    )


def _for_all(names: dict[str, str], cloud: str) -> set[str]:
    """A launch template belongs to no cluster."""
    return {name for name in names.values() if name.endswith("-template")}


def test_one_cluster_is_one_group(declare: SimpleNamespace) -> None:
    stack = tuple(named(declare, "eks").values())
    assert clusters_of(stack).groups == (stack,)


def test_two_good_clusters_are_silent(declare: SimpleNamespace) -> None:
    assert told(both(declare)) == []


ONE_OF_EACH = [
    "GKE nodes of 1.32", "an unpinned driver", "no override", "a version with a known fault",
    "a version with a known fault on GKE", "no toleration", "no toleration on GKE", "the default root on GKE",
    "the root of COS on EKS", "an endpoint open to the world", "GKE open to the world", "an image without a driver",
]  # fmt: skip


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_fault_of_one_is_told_once_and_of_its_own_object(declare: SimpleNamespace, name: str) -> None:
    cloud, which, path, value, rule, level, words = FAULTS[name]
    stack = both(declare)
    key = f"{cloud}-{which}"

    found = told({**stack, key: changed(stack[key], path, value)})

    ((_, its_level, where, sentence),) = [entry for entry in found if entry[0] == rule]
    assert (its_level, where) == (level, key)
    assert words in sentence


def test_a_driver_in_each_cluster_is_not_one_too_many(declare: SimpleNamespace) -> None:
    stack = both(declare)
    second = declare.release("nvidia-dra-driver-gpu", {}, name="second", namespace="b", version="25.8.1")
    assert "driver-installed-twice" not in {rule for rule, *_ in told(stack)}

    found = told({**stack, "second": replace(second, provider=stack["gke-provider"].urn)})

    assert [where for rule, _, where, _ in found if rule == "driver-installed-twice"] != []


def test_an_object_that_may_be_of_either_is_named_and_judged_in_neither(declare: SimpleNamespace) -> None:
    stack = both(declare)
    stack["eks-driver"] = replace(stack["eks-driver"], provider="")

    found = [(rule, level, where) for rule, level, where, _ in told(stack) if where == "eks-driver"]

    assert found == [("stack-cannot-be-judged", "advisory", "eks-driver")]
