"""Distinct documents through the whole command: 1,000 different Deployments, planned on five pools.

`python tests/bench/bench_documents.py [DOCUMENTS…]` runs `pulumi-dra plan --format json` on this
number of documents, and prints the CPU seconds of the process and the cost of doubling the
documents. The texts come from one `random.Random(seed)`.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

AIM = 10.0  # CPU seconds for 1 000 documents
COUNTS = (250, 500, 1000)
SEED = 1
FLEET = """cloud: eks
region: us-east-1
kubernetes: "1.34"
network: {zones: 2}
systemPool: {machine: m7i.large, count: 2}
drivers: {nvidia: {version: 25.8.1}}
pools:
"""
MACHINES = ("g6.2xlarge", "g6.12xlarge", "g5.12xlarge", "p4d.24xlarge", "p5.48xlarge")
MODELS = ("", "L4", "A10G", "A100", "H100")
TEMPLATE = """apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpus-%d%s}
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            count: %d
"""
SELECTOR = """            selectors:
              - cel:
                  expression: device.attributes["gpu.nvidia.com"].productName.contains("%s")
"""
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: server-%04d}
spec:
  replicas: %d
  selector: {matchLabels: {app: server-%04d}}
  template:
    metadata: {labels: {app: server-%04d}}
    spec:
      containers:
        - name: server
          image: registry.example/server:%d
          resources:
            requests: {cpu: %dm, memory: %dMi}
            claims: [{name: gpu}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus-%d%s}]
      tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
"""


def write(folder: Path, documents: int) -> None:
    """Write this number of Deployments, the templates that they use, and a fleet."""
    chance = random.Random(SEED)
    templates = [(count, model) for count in (1, 2, 4) for model in MODELS]
    texts = [
        TEMPLATE % (count, f"-{model.lower()}" * bool(model), count)
        + (SELECTOR % model if model else "")
        for count, model in templates
    ]
    for number in range(documents):
        count, model = chance.choice(templates)
        cpu, memory = chance.randint(100, 6_000) * count, chance.randint(256, 24_000) * count
        named = f"-{model.lower()}" * bool(model)
        replicas = chance.randint(1, 20)
        texts.append(
            DEPLOYMENT % (number, replicas, number, number, number, cpu, memory, count, named)
        )
    (folder / "workloads.yaml").write_text("---\n".join(texts))
    pools = [
        f"  - {{name: {each.split('.')[0]}-{at}, machine: {each}, count: {{min: 0, max: 50000}}}}\n"
        for at, each in enumerate(MACHINES)
    ]
    (folder / "fleet.yaml").write_text(FLEET + "".join(pools))


def plan(documents: int) -> tuple[float, float, str]:
    """Return the CPU seconds and MiB of the command, and a short form of its output."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, documents)
        given = [
            str(folder / "workloads.yaml"),
            "--fleet",
            str(folder / "fleet.yaml"),
            "--format",
            "json",
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "dra_command", "plan", *given], capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout:
        raise SystemExit(done.stderr)
    output = json.loads(done.stdout)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cost = output["cost"]
    short_form = f"{output['verdict']}, {cost['hourly']:.0f} USD an hour, bound {cost['bound']:.0f}"
    return spent, after.ru_maxrss / 1024, short_form


def main() -> None:
    counts = [int(each) for each in sys.argv[1:]] or COUNTS
    spent = []
    for documents in counts:
        seconds, mib, short_form = plan(documents)
        spent.append((documents, seconds))
        aim = f", aim {AIM}" if documents == 1000 else ""
        print(
            f"{documents} documents: {seconds:.2f} s of CPU{aim}, {mib:.0f} MiB; {short_form}",
            flush=True,
        )
    for (few, less), (many, more) in pairwise(spent):
        print(f"{few} → {many} documents: {more / less:.2f} times the time")


if __name__ == "__main__":
    main()
