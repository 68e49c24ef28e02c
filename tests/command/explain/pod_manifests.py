"""A fleet with three nodes of one L4 each, and Deployments whose pods claim GPUs."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools:
  - {name: l4, machine: g6.2xlarge, count: {max: 3}}
"""
DEPLOYMENT = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: NAME}]
      containers: [{name: main, image: registry.example/web:1, resources: {claims: [{name: gpu}]}}]
---
"""


def deployment(name: str, *, replicas: int = 1, count: int = 1) -> str:
    return (
        DEPLOYMENT.replace("NAME", name)
        .replace("REPLICAS", str(replicas))
        .replace("COUNT", str(count))
    )


def big() -> str:
    selector = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"
    return deployment("web").replace(
        "count: 1", f'selectors: [{{cel: {{expression: "{selector}"}}}}]'
    )
