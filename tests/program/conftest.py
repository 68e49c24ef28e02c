"""Stacks of this repository in a scratch project: a fleet from `stacks/`, a plan for it, and the
real engine.
"""

import copy
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner import planfile
from dra_planner.fleet import Fleet, read_settings
from dra_planner.plan.pools.built_counts import may_be_smaller, node_range
from dra_planner.sources import read_sources
from dra_sandbox.engine import Engine

PROJECT = Path(__file__).parents[2]
WORKLOAD = """\
apiVersion: v1
kind: Pod
metadata: {name: idle}
spec: {containers: [{name: main, image: registry.example/idle}]}
"""


def pytest_configure(config: pytest.Config) -> None:
    # The SDKs warn about their own deprecated resources whenever one of their modules is imported.
    config.addinivalue_line(
        "filterwarnings", r"ignore::DeprecationWarning:pulumi_(aws|gcp|azure_native)\..*"
    )


def make_plan(
    fleet: Fleet, sources: Any = (), *, nodes: Mapping[str, int] | int = 1
) -> planfile.PlanFile:
    """Return a sealed plan with this number of nodes for each pool, regardless of the workloads."""
    rows = []
    for pool in fleet.pools:
        wanted = nodes if isinstance(nodes, int) else nodes[pool.name]
        built = node_range(pool.count.min, wanted, pool.count.max, may_be_smaller(fleet, pool.name))
        rows.append(
            {
                "name": pool.name,
                "machine": pool.machine,
                "count": {
                    "min": pool.count.min,
                    "bound": wanted,
                    "packing": wanted,
                    "simulated": wanted,
                    "max": pool.count.max,
                },
                "nodes": {"min": built.minimum, "desired": built.desired, "max": built.maximum},
                "devices": {"total": wanted, "used": 0, "stranded": wanted},
            }
        )
    return planfile.seal(
        {
            "inputs": planfile.inputs_of(fleet, sources),
            "kubernetes": fleet.kubernetes,
            "verdict": "fits",
            "assumptions": [],
            "fleet": fleet.document(),
            "classes": [],
            "demand": {"level": "steady", "shapes": [], "sharedClaims": [], "blocked": []},
            "workloads": [],
            "pools": rows,
        }
    )


class Journey:
    """One stack in a scratch project: change its fleet or its plan, and run the engine on it."""

    def __init__(self, folder: Path, stack: str) -> None:
        self.stack = stack
        self.engine = Engine(folder / "work", PROJECT)
        self._workload = folder / "workload.yaml"
        self._workload.write_text(WORKLOAD)
        self._settings = self.engine.settings_folder / f"Pulumi.{stack}.yaml"
        self.config: dict[str, Any] = yaml.safe_load(self._settings.read_text())["config"]
        self.config["pulumi-dra:workloads"] = [str(self._workload)]
        self.write(nodes=1)
        self.engine.stack_init(stack)
        self._salt = yaml.safe_load(self._settings.read_text())["encryptionsalt"]

    def write(
        self,
        *,
        nodes: Mapping[str, int] | int,
        change: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        """Write the settings, after a change to the fleet, and a plan for them."""
        if change:
            change(self.config["pulumi-dra:fleet"])
        salt = {"encryptionsalt": self._salt} if hasattr(self, "_salt") else {}
        self._settings.write_text(yaml.safe_dump({**salt, "config": self.config}))
        plan = make_plan(
            read_settings(self.config).fleet, read_sources([self._workload]), nodes=nodes
        )
        self.plan_path.write_text(planfile.file_text(plan))

    @property
    def plan_path(self) -> Path:
        return self.engine.settings_folder / f"{self.stack}.plan.json"

    def preview_of(
        self, change: Callable[[dict[str, Any]], None], *, nodes: Mapping[str, int] | int
    ) -> Any:
        """Return the preview of a change to the settings, and revert the change."""
        kept = copy.deepcopy(self.config)
        change(self.config)
        self.write(nodes=nodes)
        preview = self.engine.preview(self.stack)
        self.config = kept
        self.write(nodes=nodes)
        return preview

    def up(self) -> dict[str, str]:
        """Run `up`, which must succeed, and return its changes."""
        done = self.engine.up(self.stack, skip_preview=True)
        assert done.ok, done.output
        return self.changed(done)

    def changed(self, result: Any) -> dict[str, str]:
        """Return name → operation for each resource that changed."""
        return {step.name: step.op for step in result.steps if step.op not in ("same", "read")}


def graph_text(resources: list[dict[str, Any]]) -> str:
    """Return a stack's resources as a tree, each with its dependencies (without the record, on
    which all resources depend).
    """
    record = "pulumi-dra:index:CapacityPlan"
    label = {
        r["urn"]: f"{r['type'].rpartition(':')[2]} {r['urn'].rpartition('::')[2]}"
        for r in resources
    }
    below: dict[str, list[dict[str, Any]]] = {}
    for resource in resources:
        if not resource["type"].startswith("pulumi:providers:") or "kubernetes" in resource["type"]:
            below.setdefault(resource.get("parent", ""), []).append(resource)

    def lines(parent: str, depth: int) -> list[str]:
        found = []
        for resource in sorted(below.get(parent, []), key=lambda r: label[r["urn"]]):
            waits = sorted(
                label[urn] for urn in resource.get("dependencies", []) if record not in urn
            )
            found.append("  " * depth + label[resource["urn"]])
            found += ["  " * (depth + 2) + "after " + name for name in waits]
            found += lines(resource["urn"], depth + 1)
        return found

    return "\n".join(lines("", 0)) + "\n"


@pytest.fixture(scope="session")
def check_graph() -> Callable[[str, list[dict[str, Any]]], None]:
    """Compare a stack's graph with the reviewed one; REWRITE_GOLDEN updates the latter."""

    def check(stack: str, resources: list[dict[str, Any]]) -> None:
        golden = Path(__file__).parent / "graphs" / f"{stack}.txt"
        text = graph_text(resources)
        if os.environ.get("REWRITE_GOLDEN"):
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(text)
        assert text == golden.read_text()

    return check


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Journey]:
    return lambda stack: Journey(tmp_path_factory.mktemp(stack), stack)


@pytest.fixture
def plan_of() -> Callable[..., planfile.PlanFile]:
    return make_plan
