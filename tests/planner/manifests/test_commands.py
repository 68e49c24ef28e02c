"""Command lines of guides and scripts: what no longer works, or never did."""

from __future__ import annotations

import pytest

from dra_planner.manifests.commands import command_findings
from dra_planner.manifests.embedded import read_embedded
from dra_planner.sources import Source

COMMANDS = {
    "kube-apiserver --feature-gates=DynamicResourceAllocation=true": "gate-not-needed",
    "kubelet --feature-gates=A=true,DynamicResourceAllocation=false": "gate-locked",
    "kube-scheduler --feature-gates=DRAControlPlaneController=true": "gate-gone",
    "kube-apiserver --runtime-config=resource.k8s.io/v1beta1=true": "version-not-needed",
    "helm upgrade -i dra k8s-dra-imex-driver": "chart-never-existed",
    "helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.2": "release-never-existed",
    "helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.1 --set nvidiaCtkPath=/x": "value-refused",
    "helm install d nvidia/nvidia-dra-driver-gpu --version=25.8.1 --set resources.gpus.enabled=false": "gpus-left-out",
    "kubectl get resourceclass": "kind-gone",
    "kubectl -n ml get podschedulingcontexts": "kind-gone",
    "kubectl get deviceclasses -n ml": "namespace-ignored",
    "helm install dra \u2013\u2013version 25.8.1": "typographic-command",
    "kubectl get pods -n ml": "",
    "kubectl get pods,resourceclaims -n ml": "",
    "helm install dra nvidia/nvidia-dra-driver-gpu --version 25.8.1 -n dra --create-namespace": "",
    "git clone https://github.com/NVIDIA/k8s-dra-driver-gpu": "",
    "# kubectl get resourceclass": "",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str) -> None:
    code = COMMANDS[command]
    commands = read_embedded(Source("run.sh", f"#!/bin/bash\n\n{command}\n")).commands
    found = [(each.place.line, each.code) for each in command_findings(commands, "run.sh")]
    assert found == ([(3, code)] if code else [])
