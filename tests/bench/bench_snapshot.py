"""CPU time of `plan` when 3,000 pods are applied to a running cluster with 1,000 nodes, with a
snapshot in JSON or YAML.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from dra_planner.fleet import read_fleet
from dra_planner.offers import predict_offers
from dra_planner.plan import fleet_classes
from dra_planner.releases import features_of
from dra_sandbox.rehearsal.cluster import cluster_of

NODES, PODS = 1_000, 3_000
FLEET = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "network": {"zones": ["us-east-1a"]},
    "drivers": {"nvidia": {"version": "25.12.0"}},
    "pools": [{"name": "a", "machine": "p4d.24xlarge", "count": {"min": 0, "max": 2 * NODES}}],
}
APPLIED = f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: gpu}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com}}}}]}}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app}}
spec:
  replicas: {PODS}
  selector: {{matchLabels: {{app: app}}}}
  template:
    metadata: {{labels: {{app: app}}}}
    spec:
      tolerations: [{{operator: Exists}}]
      containers: [{{name: app, image: app, resources: {{claims: [{{name: gpu}}], requests: {{cpu: "1"}}}}}}]
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu}}]
"""


def snapshot() -> dict[str, Any]:
    """Return the list that `kubectl get` prints of such a cluster."""
    fleet, features = read_fleet(FLEET), features_of(36)
    cluster = cluster_of(
        fleet, predict_offers(fleet, features), fleet_classes(fleet, features), {"a": NODES}
    )
    items = [json.loads(json.dumps(each)) for each in cluster.objects]
    for number, each in enumerate(items, 1):
        each["metadata"]["uid"] = str(UUID(int=number))
    return {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}


def measure(applied: Path, observed: Path) -> float:
    """Return the CPU seconds of the command, including startup and report: the best of three
    runs.
    """
    words = [
        "-m",
        "dra_command",
        "plan",
        str(applied),
        "--observed",
        str(observed),
        "--kubernetes",
        "1.36",
    ]
    taken: list[float] = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def main() -> None:
    whole = snapshot()
    with tempfile.TemporaryDirectory() as folder:
        applied = Path(folder) / "app.yaml"
        applied.write_text(APPLIED)
        texts = {
            "cluster.json": json.dumps(whole, indent=4),
            "cluster.yaml": yaml.dump(whole, Dumper=yaml.CSafeDumper),
        }
        for name, text in texts.items():
            observed = Path(folder) / name
            observed.write_text(text)
            print(f"{name}, {len(text) / 1e6:.1f} MB: {measure(applied, observed):.2f} s")


if __name__ == "__main__":
    main()
