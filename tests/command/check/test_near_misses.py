"""A selector that narrowly misses a GPU: `check`, `plan`, and `explain` have the same limit."""

from __future__ import annotations

import pytest
import yaml
from command_project import Project

from gpu_manifests import deployment, template

FLEET = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.35",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "a10g", "machine": "g5.xlarge", "count": 2}],  # publishes 23028Mi
}
CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: large-gpu}
spec: {selectors: [{cel: {expression: 'SELECTOR'}}]}
---
"""


@pytest.mark.parametrize(
    ("amount", "is_near"),
    [("23029Mi", True), ("24Gi", True), ("24639Mi", True), ("24641Mi", False)],
)
@pytest.mark.parametrize("is_class", [True, False], ids=["class", "request"])
def test_check_plan_and_explain_agree_on_a_near_miss(
    project: Project, amount: str, is_near: bool, is_class: bool
) -> None:
    selector = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{amount}")) >= 0'
    own = CLASS.replace("SELECTOR", selector) if is_class else ""
    claim = template(selector="" if is_class else selector)
    if is_class:
        claim = claim.replace("Name: gpu.nvidia.com", "Name: large-gpu")
    project.write("app.yaml", f"{own}{claim}---\n{deployment()}")
    project.write("fleet.yaml", yaml.safe_dump(FLEET))
    given = ("app.yaml", "--fleet", "fleet.yaml")
    checked = project.run("check", *given).out
    explained = " ".join(project.run("explain", *given, "--claim", "web-gpu").out.split())
    planned = project.run("plan", *given, "--quiet").out
    assert [
        "selector-just-misses-a-gpu" in checked,
        "publish less than their nominal size" in explained,
        "→ use `quantity" in planned,
    ] == [is_near] * 3
