"""Speed of reading and evaluating 10,000 documents (about 20 MB), compared with PyYAML's C composer
on the same text.

python tests/bench/bench_manifests.py [documents]
"""

from __future__ import annotations

import resource
import sys
import time

import yaml

from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: server-%d
  labels: {app: server}
spec:
  replicas: 2
  selector:
    matchLabels: {app: server}
  template:
    metadata:
      labels: {app: server}
    spec:
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
      containers:
        - name: main
          image: registry.example/server:1.2.3
          env:
%s
          resources:
            requests: {cpu: "4", memory: 16Gi}
            claims:
              - name: gpu
      resourceClaims:
        - name: gpu
          resourceClaimTemplateName: gpu-%d
"""
TEMPLATE = """apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: gpu-%d
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
            count: 2
            selectors:
              - cel:
                  expression: device.attributes["gpu.nvidia.com"].architecture == "Hopper"
"""
VARIABLE = "            - name: VARIABLE_%d\n              value: the value of number %d"
ENVIRONMENT = "\n".join(VARIABLE % (n, n) for n in range(48))


def text_of(documents: int) -> str:
    pairs = (
        DEPLOYMENT % (n, ENVIRONMENT, n) + "---\n" + TEMPLATE % n for n in range(documents // 2)
    )
    return "---\n".join(pairs)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    text = text_of(documents)
    print(f"{documents} documents, {len(text) / 1e6:.1f} MB, {peak_mib():.0f} MiB before")
    for run in range(3):
        start = time.process_time()
        manifests = read_checked([Source("bench.yaml", text)], features_of(36))
        read = time.process_time() - start
        memory = peak_mib()
        assert len(manifests.workloads) == documents // 2
        assert manifests.diagnostics == ()
        del manifests
        start = time.process_time()
        for _ in yaml.compose_all(text, Loader=yaml.CSafeLoader):
            pass
        composed = time.process_time() - start
        print(
            f"run {run}: read and judged {read:.2f} s ({documents / read:.0f} documents/s, peak "
            f"{memory:.0f} MiB); "
            f"composed by PyYAML {composed:.2f} s; ratio {read / composed:.2f}"
        )


if __name__ == "__main__":
    main()
