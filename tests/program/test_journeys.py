"""The whole life of this repository's stacks on the real engine and simulated clouds, from creation
to deletion.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec import Struct

pytestmark = pytest.mark.engine

Config = dict[str, Any]


def fleet_of(config: Config) -> dict[str, Any]:
    fleet: dict[str, Any] = config["pulumi-dra:fleet"]
    return fleet


def other_driver_and_labels(config: Config) -> None:
    fleet_of(config)["drivers"]["nvidia"]["version"] = "25.12.0"
    for pool in fleet_of(config)["pools"]:
        pool["labels"] = {"example.com/team": "vision"}


def spot(config: Config) -> None:
    fleet_of(config)["pools"][0]["capacity"] = "spot"


def one_zone_more(config: Config) -> None:
    fleet_of(config)["network"] = {"zones": 3}


def a_network_of_ones_own(config: Config) -> None:
    fleet_of(config)["network"] = {"subnetIds": ["subnet-01", "subnet-02"]}
    fleet_of(config)["pools"][1]["zones"] = []


def other_region(config: Config) -> None:
    config["gcp:region"] = fleet_of(config)["region"] = "europe-west4"
    fleet_of(config)["network"]["zones"] = fleet_of(config)["pools"][1]["zones"] = [
        "europe-west4-b"
    ]


class Story(Struct, frozen=True):
    """A stack: its pools (the smaller one first), the names of its resources, and the changes to
    preview.
    """

    stack: str
    pools: tuple[str, str]
    nodes: str
    network: tuple[str, str]
    previews: Mapping[str, Callable[[Config], None]]


STORIES = {
    each.stack: each
    for each in (
        Story(
            "eks-dev",
            ("l4", "h100"),
            "NodeGroup",
            ("Vpc", "dra-cluster-network-vpc"),
            {
                "spot": spot,
                "one zone more": one_zone_more,
                "a network of one's own": a_network_of_ones_own,
            },
        ),
        Story(
            "gke-dev",
            ("l4", "h100"),
            "NodePool",
            ("Network", "dra-cluster-network-network"),
            {"spot": spot, "other region": other_region},
        ),
        Story(
            "aks-dev",
            ("t4", "a100"),
            "AgentPool",
            ("Subnet", "dra-cluster-network-nodes"),
            {"spot": spot},
        ),
    )
}
CLOUDS = frozenset({"aws", "gcp", "azure-native", "kubernetes"})


class Run(Struct, frozen=True):
    """The output of each step of the journey."""

    story: Story
    resources: list[dict[str, Any]]
    outputs: dict[str, Any]
    again: Any
    resized: Any
    resized_steps: dict[str, str]
    resized_resources: list[dict[str, Any]]
    previews: Mapping[str, Any]
    destroyed: Any
    left: list[dict[str, Any]]

    def replaced(self, preview: str) -> set[str]:
        """Return the resources that a change would replace."""
        result = self.previews[preview]
        assert result.ok, result.output
        return {step.name for step in result.steps if "replace" in step.op}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(each, marks=pytest.mark.xdist_group(each.stack[:3]), id=each.stack)
        for each in STORIES.values()
    ],
)
def run(request: pytest.FixtureRequest, journey: Callable[[str], Any]) -> Run:
    story: Story = request.param
    stack = journey(story.stack)
    engine = stack.engine
    first = engine.up(story.stack, skip_preview=True)
    assert first.ok, first.output
    resources, outputs = engine.resources(story.stack), engine.outputs(story.stack)
    again = engine.preview(story.stack)
    nodes = dict(zip(story.pools, (3, 0), strict=True))
    other_driver_and_labels(stack.config)
    stack.write(nodes=nodes)
    resized = engine.up(story.stack, skip_preview=True)
    resized_resources = engine.resources(story.stack)
    previews = {
        name: stack.preview_of(change, nodes=nodes) for name, change in story.previews.items()
    }
    destroyed = engine.destroy(story.stack)
    return Run(
        story,
        resources,
        outputs,
        again,
        resized,
        stack.changed(resized),
        resized_resources,
        previews,
        destroyed,
        engine.resources(story.stack),
    )


def of(stack: str) -> pytest.MarkDecorator:
    """Return the mark that runs a test for one of the stacks."""
    group = pytest.mark.xdist_group(stack[:3])
    return pytest.mark.parametrize(
        "run", [pytest.param(STORIES[stack], marks=group, id=stack)], indirect=True
    )


def inputs_of(resources: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        resource["urn"].rpartition("::")[2]: resource.get("inputs") or {} for resource in resources
    }


def test_plan_is_recorded_first(run: Run) -> None:
    kinds = [resource["type"] for resource in run.resources]
    cloud = [index for index, kind in enumerate(kinds) if kind.split(":")[0] in CLOUDS]
    assert cloud
    assert kinds.index("pulumi-dra:index:CapacityPlan") < min(cloud)


def test_cloud_resources_depend_on_the_recorded_plan(run: Run) -> None:
    record = next(r["urn"] for r in run.resources if r["type"] == "pulumi-dra:index:CapacityPlan")
    usual = (
        "pulumi:pulumi:Stack",
        *(f"pulumi:providers:{cloud}" for cloud in CLOUDS - {"kubernetes"}),
    )
    without = [
        resource["urn"]
        for resource in run.resources
        if resource.get("custom")
        and resource["type"] not in usual
        and record not in resource.get("dependencies", [])
    ]
    assert without == []


def test_graph_matches_the_reviewed_graph(run: Run, check_graph: Callable[..., None]) -> None:
    check_graph(run.story.stack, run.resources)


def test_second_up_changes_nothing(run: Run) -> None:
    assert run.again.ok
    assert set(run.again.change_counts) == {"same"}


def test_new_sizes_driver_and_labels_replace_nothing(run: Run) -> None:
    assert run.resized.ok, run.resized.output
    assert run.resized_steps == {
        "dra-plan": "update",
        **{f"dra-{pool}-nodes": "update" for pool in run.story.pools},
        "dra-driver-release": "update",
    }
    inputs = inputs_of(run.resized_resources)
    assert inputs["dra-driver-release"]["version"] == "25.12.0"
    assert "vision" in str(inputs[f"dra-{run.story.pools[1]}-nodes"])


def test_preview_shows_that_spot_replaces_only_its_pool(run: Run) -> None:
    assert run.replaced("spot") == {f"dra-{run.story.pools[0]}-nodes"}


def test_destroy_deletes_everything(run: Run) -> None:
    assert run.destroyed.ok
    assert run.left == []


def test_destroy_order_is_releases_then_nodes_then_cluster(run: Run) -> None:
    gone = [
        (step.type.rpartition(":")[2], step.name)
        for step in run.destroyed.steps
        if step.op == "delete"
    ]
    in_cluster = [index for index, (kind, _) in enumerate(gone) if kind in ("Release", "DaemonSet")]
    pools = [gone.index((run.story.nodes, f"dra-{pool}-nodes")) for pool in run.story.pools]
    nodes = [index for index, (kind, _) in enumerate(gone) if kind == run.story.nodes]
    cluster = next(index for index, (_, name) in enumerate(gone) if name == "dra-cluster-cluster")
    assert max(in_cluster) < min(pools)
    assert max(nodes) < cluster < gone.index(run.story.network)


@of("eks-dev")
def test_sizes_are_applied_to_the_node_groups(run: Run) -> None:
    inputs = inputs_of(run.resized_resources)
    assert inputs["dra-l4-nodes"]["scalingConfig"]["desiredSize"] == 3
    assert inputs["dra-h100-nodes"]["scalingConfig"]["desiredSize"] == 0
    assert inputs["dra-h100-nodes"]["labels"]["example.com/team"] == "vision"


@of("eks-dev")
def test_additional_zone_only_adds_resources(run: Run) -> None:
    assert run.replaced("one zone more") == set()
    changed = [
        step for step in run.previews["one zone more"].steps if step.op not in ("same", "read")
    ]
    assert {step.op for step in changed} == {"create", "update"}
    assert {step.name for step in changed if step.op == "update"} == {
        "dra-plan",
        "dra-cluster-network-s3",
    }


@of("eks-dev")
def test_preview_shows_that_a_custom_network_replaces_the_cluster(run: Run) -> None:
    replaced = run.replaced("a network of one's own")
    assert {
        "dra-cluster-cluster",
        "dra-cluster-system",
        "dra-l4-nodes",
        "dra-h100-nodes",
    } <= replaced


@of("eks-dev")
def test_kubeconfig_is_secret_and_contains_no_token(run: Run) -> None:
    stack = next(
        resource for resource in run.resources if resource["type"] == "pulumi:pulumi:Stack"
    )
    assert "ciphertext" in stack["outputs"]["kubeconfig"]
    assert "get-token" in run.outputs["kubeconfig"]
    assert '"token"' not in run.outputs["kubeconfig"]


@of("gke-dev")
def test_preview_shows_that_another_region_replaces_the_cluster(run: Run) -> None:
    assert {"dra-cluster-cluster", "dra-l4-nodes", "dra-h100-nodes"} <= run.replaced("other region")


@of("gke-dev")
def test_driver_is_installed_and_may_run_on_every_node(run: Run) -> None:
    inputs = inputs_of(run.resources)
    # 4 + 8 nodes, no controller
    assert inputs["dra-driver-critical-pods"]["spec"]["hard"]["pods"] == "12"
    assert "dra-driver-installer-installer" in inputs
    assert (
        inputs["dra-driver-release"]["values"]["nvidiaDriverRoot"] == "/home/kubernetes/bin/nvidia"
    )


@of("aks-dev")
def test_dra_driver_uses_the_node_images_gpu_driver(run: Run) -> None:
    inputs = inputs_of(run.resources)
    assert inputs["dra-driver-release"]["values"]["nvidiaDriverRoot"] == "/"
    assert not any("installer" in name for name in inputs)
