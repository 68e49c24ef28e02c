"""Pods that claim one GPU each, as manifests of few lines."""

from __future__ import annotations


def template(name: str = "gpu", selector: str = "") -> str:
    """Return a ResourceClaimTemplate for one GPU that a selector matches."""
    selectors = f", selectors: [{{cel: {{expression: '{selector}'}}}}]" if selector else ""
    return f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com{selectors}}}}}]}}}}}}
"""


def pod_spec(claim: str = "gpu", cpu: str = "") -> str:
    """Return the spec of a pod that uses that template and tolerates the taint of GPU nodes."""
    requests = f'requests: {{cpu: "{cpu}"}}, ' if cpu else ""
    return f"""\
{{
  tolerations: [{{key: nvidia.com/gpu, operator: Exists}}],
  containers: [{{name: main, image: registry.example/web:1, resources: {{{requests}claims: [{{name: gpu}}]}}}}],
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: {claim}}}],
  }}"""


def deployment(name: str = "web", replicas: int = 1, claim: str = "gpu", cpu: str = "") -> str:
    """Return a Deployment of such pods."""
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {pod_spec(claim, cpu)}
"""
