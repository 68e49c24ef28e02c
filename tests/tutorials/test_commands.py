"""Command lines in guides and scripts that no longer work, or never did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.catalog.tables import read_table
from dra_planner.errors import Diagnostic
from dra_planner.sources import Source
from dra_tutorials.blocks.embedded import read_embedded
from dra_tutorials.shell.commands import command_findings

COMMANDS = {
    "kube-apiserver --feature-gates=DynamicResourceAllocation=true": "gate-not-needed",
    "kubelet --feature-gates=A=true,DynamicResourceAllocation=false": "gate-locked",
    "kube-scheduler --feature-gates=DRAControlPlaneController=true": "gate-gone",
    "kube-apiserver --runtime-config=resource.k8s.io/v1beta1=true": "version-not-needed",
    "helm upgrade -i dra k8s-dra-imex-driver": "chart-never-existed",
    "helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.2 --values v.yaml": "release-never-existed",
    "helm install dra nvidia/nvidia-dra-driver-gpu -f v.yaml --set nvidiaCtkPath=/x": "value-refused",
    "helm install d nvidia/nvidia-dra-driver-gpu -n dra --set resources.gpus.enabled=false": "gpus-left-out",
    "kubectl get resourceclass": "kind-gone",
    "kubectl -n ml get podschedulingcontexts": "kind-gone",
    "kubectl get deviceclasses -n ml": "namespace-ignored",
    "helm install dra \u2013\u2013version 25.8.1": "typographic-command",
    "kubectl get pods -n ml": "",
    "kubectl get pods,resourceclaims -n ml": "",
    "helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.1 -n dra --create-namespace": "value-refused",
    "helm install dra nvidia/nvidia-dra-driver-gpu -n d --set gpuResourcesEnabledOverride=true": "",
    "git clone https://github.com/NVIDIA/k8s-dra-driver-gpu": "",
    "# kubectl get resourceclass": "",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_checked(command: str) -> None:
    code = COMMANDS[command]
    text = f"#!/bin/bash\n\n{command}\n"
    commands = read_embedded(Source("run.sh", text)).commands
    found = [(each.place.line, each.code) for each in command_findings(commands, "run.sh", text)]
    assert found == ([(3, code)] if code else [])


GUIDES: list[dict[str, str]] = yaml.safe_load(
    (Path(__file__).parent / "guide_commands.yaml").read_text("utf-8")
)


def findings_of(*lines: str) -> list[Diagnostic]:
    page = "\n".join(
        ["# A guide", "", "```console", *(f"$ {line}" for line in lines if line), "```", ""]
    )
    return list(
        command_findings(read_embedded(Source("guide.md", page)).commands, "guide.md", page)
    )


@pytest.mark.parametrize("row", GUIDES, ids=lambda row: f"{row['code']}: {row['command'][:50]}")
def test_fix_removes_the_finding_of_a_guides_command(row: dict[str, str]) -> None:
    beside = row.get("beside", "")
    before = [each for each in findings_of(beside, row["command"]) if each.code == row["code"]]
    assert [each.fix for each in before if row["fix"] in each.fix], before
    assert findings_of(row["fixed"], row.get("fixed_beside", beside)) == []


def test_every_row_of_the_table_is_reported_for_a_command() -> None:
    fixes = {
        each.fix for row in GUIDES for each in findings_of(row.get("beside", ""), row["command"])
    }
    missing: list[Any] = [
        (row["code"], row["program"], row["fix"])
        for row in read_table("command_rows")
        if row["fix"].format(minimum="1.34") not in fixes
    ]
    assert not missing


def test_variables_and_placeholders_cause_no_finding() -> None:
    """Variables and placeholders can have any value; a machine without GPUs needs no options."""
    assert findings_of('az aks nodepool add --name "$POOL" --cluster-name <name> -g rg') == []
    assert findings_of("gcloud container node-pools create p --machine-type e2-standard-4") == []
    assert findings_of("eksctl create nodegroup --cluster c --node-type m7i.large") == []
    assert (
        findings_of("helm install d nvidia/nvidia-dra-driver-gpu -f values.yaml --version 25.8.1")
        == []
    )
    assert findings_of("kubectl get pods 'unclosed") == []
