"""Rows that a snapshot contributes: put into the tables, they make the prediction right."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import dra_planner

JUDGE = """\
import json, sys
from pathlib import Path
from dra_planner.fleet import read_fleet
from dra_planner.plan import read_checked
from dra_planner.offers import observe_offers, predict_offers, rows_to_add, verify_offers
from dra_planner.releases import features_of
from dra_planner.sources import Source
features = features_of(36)
text = Path(sys.argv[1]).read_text()
observed = observe_offers(read_checked([Source("cluster.yaml", text)], features), features)
rows = [[row.table, row.line, row.replaces] for row in rows_to_add(observed)]
differences = None
if len(sys.argv) > 2:
    fleet = read_fleet(json.loads(sys.argv[2]))
    found = verify_offers(predict_offers(fleet, features), observed).differences
    devices = ("count", "attribute", "capacity", "driver", "machine")
    differences = [str(each) for each in found if each.aspect in devices]
print(json.dumps({"rows": rows, "differences": differences}))
"""


def snapshot(
    machine: str, product: str, count: int, memory: str, label: str, cpu: str = "191450m"
) -> str:
    """One node with GPUs of a model, two on each PCIe root."""
    architecture, capability = (
        ("Ada Lovelace", "8.9.0") if product == "NVIDIA L4" else ("Blackwell", "10.0.0")
    )
    devices = [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "type": {"string": "gpu"},
                "uuid": {"string": f"GPU-{index}"},
                "productName": {"string": product},
                "brand": {"string": "Nvidia"},
                "architecture": {"string": architecture},
                "cudaComputeCapability": {"version": capability},
                "driverVersion": {"version": "580.95.5"},
                "cudaDriverVersion": {"version": "13.0.0"},
                "addressingMode": {"string": "HMM"},
                "resource.kubernetes.io/pciBusID": {"string": f"0000:{index:02x}:00.0"},
                "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{index // 2:02x}"},
            },
            "capacity": {"memory": {"value": memory}},
        }
        for index in range(count)
    ]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    labels = {
        "node.kubernetes.io/instance-type": machine,
        "kubernetes.io/arch": "amd64",
        label: "x",
    }
    return yaml.safe_dump_all(
        [
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n1", "labels": {**labels, "pulumi-dra/pool": "new"}},
                "status": {"allocatable": {"cpu": cpu, "memory": "1800Gi", "pods": "100"}},
            },
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": "s1"},
                "spec": {
                    "driver": "gpu.nvidia.com",
                    "nodeName": "n1",
                    "pool": pool,
                    "devices": devices,
                },
            },
        ]
    )


def judge(package: Path, *words: str) -> Any:
    command = [sys.executable, "-c", JUDGE, *words]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(package)}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("cloud", "region", "machine", "product", "count", "memory", "label"),
    [
        (
            "eks",
            "us-east-1",
            "p9.48xlarge",
            "NVIDIA X900",
            8,
            "200Gi",
            "eks.amazonaws.com/nodegroup",
        ),
        (
            "gke",
            "us-central1",
            "a9-highgpu-4g",
            "NVIDIA B200",
            4,
            "183359Mi",
            "cloud.google.com/gke-accelerator",
        ),
        ("eks", "us-east-1", "g6.2xlarge", "NVIDIA L4", 1, "24Gi", "eks.amazonaws.com/nodegroup"),
        (
            "aks",
            "eastus",
            "Standard_ND192isr_B200_v9",
            "NVIDIA B200",
            8,
            "183359Mi",
            "kubernetes.azure.com/agentpool",
        ),
    ],
    ids=[
        "a new GPU in a new machine",
        "a new machine",
        "another amount of memory",
        "a new machine on AKS",
    ],
)
def test_contributed_rows_correct_the_prediction(
    tmp_path: Path,
    cloud: str,
    region: str,
    machine: str,
    product: str,
    count: int,
    memory: str,
    label: str,
) -> None:
    package = tmp_path / "package"
    shutil.copytree(Path(dra_planner.__file__).parent, package / "dra_planner")
    cluster = tmp_path / "cluster.yaml"
    cpu = "189980m" if cloud == "aks" else "191450m"  # what kubelet leaves of 192 cores
    cluster.write_text(snapshot(machine, product, count, memory, label, cpu))
    rows = judge(package, str(cluster))["rows"]
    assert rows
    for table, line, replaces in rows:
        path = package / "dra_planner" / "data" / f"{table}.csv"
        lines = path.read_text().splitlines()
        if replaces:
            lines = [line if each.startswith(f"{replaces},") else each for each in lines]
        else:
            # the memory that a node doesn't report
            lines.append(line.replace(",192,,gpu", ",192,2097152,gpu"))
        path.write_text("\n".join(lines) + "\n")
    fleet = {
        "cloud": cloud,
        "region": region,
        "kubernetes": "1.36",
        "systemPool": {
            "machine": {"aks": "Standard_D4s_v5", "eks": "m7i.large", "gke": "e2-standard-4"}[cloud]
        },
        "drivers": {"nvidia": {"version": "0.4.1"}},
        "pools": [{"name": "new", "machine": machine, "count": 1}],
    }
    answer = judge(package, str(cluster), json.dumps(fleet))
    assert answer == {"rows": [], "differences": []}
