"""The table of plugins: plugins have their upstream names, and a new plugin needs only one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from allocation_builders import GI, shape
from clusters import offer, pods_by_node, workload

from dra_planner.simulation import FitArguments, Profile
from dra_planner.simulation.plugins import PLUGINS

HERE = Path(__file__).parent
UPSTREAM_WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}
MADE_UP = '''
"""A score that prefers nodes with a newer generation."""

from dra_planner.simulation.plugins.plugin import Plugin

PLUGIN = Plugin(
    name="Generation",
    order=999,
    labels=frozenset({"generation"}),
    weight=50,
    by_node=lambda kind, node: int(node.meta.labels.get("generation", "0")),
)
'''
PLACE_PODS = """
from allocation_builders import shape
from clusters import offer, pods_by_node, workload
from dra_planner.simulation.plugins import PLUGINS
nodes = [offer(f"g{number}", labels={"generation": str(number)}) for number in range(3)]
print(PLUGINS[-1].name, pods_by_node([workload(shape(), 2)], nodes)["w0"])
"""


def test_score_plugins_have_the_upstream_names_and_weights():
    assert {each.name: each.weight for each in PLUGINS if each.weight} == UPSTREAM_WEIGHTS


def test_custom_plugin_is_a_single_file(tmp_path):
    folder = tmp_path / "dra_planner" / "simulation" / "plugins"
    folder.mkdir(parents=True)
    (folder / "generation.py").write_text(MADE_UP)
    path = [str(tmp_path), str(HERE), str(HERE.parent / "allocation")]
    program = f"import sys; sys.path[:0] = {path}\n{PLACE_PODS}"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "Generation {'g2': 2}\n"


@pytest.mark.parametrize(
    ("fit", "expected"),
    [
        (FitArguments(), {"a": 2, "b": 2}),
        (FitArguments(strategy="MostAllocated"), {"a": 4}),
        (FitArguments(strategy="RequestedToCapacityRatio", shape=((0, 0), (100, 10))), {"a": 4}),
        (
            FitArguments(strategy="RequestedToCapacityRatio", shape=((0, 10), (100, 0))),
            {"a": 2, "b": 2},
        ),
    ],
    ids=["least", "most", "ratio-packs", "ratio-spreads"],
)
def test_scoring_strategy_is_an_argument_of_node_resources_fit(fit, expected):
    profile = Profile(name="second", fit=fit, weights={"PodTopologySpread": 0})
    pods = workload(shape(requests={"cpu": 1_000, "memory": GI}), 4)
    nodes = [offer(name, cpu=16_000, memory=16 * GI) for name in "ab"]
    assert pods_by_node([pods], nodes, profile=profile)["w0"] == expected


def test_a_weight_of_zero_disables_a_score():
    pods = workload(shape(requests={"cpu": 1_000}), 2, kind="Job")
    nodes = [offer("big", cpu=64_000), offer("small", cpu=8_000)]
    assert pods_by_node([pods], nodes)["w0"] == {"big": 2}
    blind = Profile(name="blind", weights=dict.fromkeys(UPSTREAM_WEIGHTS, 0))
    assert pods_by_node([pods], nodes, profile=blind)["w0"] == {"big": 2}
    assert pods_by_node([pods], nodes[::-1], profile=blind)["w0"] == {"small": 2}
