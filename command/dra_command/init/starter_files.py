"""Texts that `init` writes beside a fleet: a first claim, and checks for continuous integration."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

FIRST_CLAIM: Final = """\
# One pod with a GPU of its own. A template makes a claim for each pod; the toleration lets the pod onto GPU nodes.
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: one-gpu
spec:
  spec:
    devices:
      requests:
        - name: gpu
          exactly:
            deviceClassName: gpu.nvidia.com
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: first-claim
spec:
  replicas: 1
  selector:
    matchLabels: {app: first-claim}
  template:
    metadata:
      labels: {app: first-claim}
    spec:
      containers:
        - name: main
          image: ubuntu:24.04
          command: [sh, -c, nvidia-smi -L && sleep infinity]
          resources:
            requests: {cpu: "1", memory: 4Gi}
            claims:
              - name: gpu
      resourceClaims:
        - name: gpu
          resourceClaimTemplateName: one-gpu
      tolerations:
        - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
"""

_GITHUB = """\
# Fails when claims do not fit the planned pools, or manifests break a rule.
name: pulumi-dra
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  plan:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: {install}
      - run: pulumi-dra check {workloads} --fleet fleet.yaml --format github
      - run: pulumi-dra plan {workloads} --fleet fleet.yaml --format markdown >> "$GITHUB_STEP_SUMMARY"
"""

_GITLAB = """\
# Fails when claims do not fit the planned pools, or manifests break a rule.
# In .gitlab-ci.yml: include: [{{local: pulumi-dra.gitlab-ci.yml}}]
pulumi-dra:
  image: python:3.12
  script:
    - {install}
    - pulumi-dra plan {workloads} --fleet fleet.yaml
    - pulumi-dra check {workloads} --fleet fleet.yaml --output junit=pulumi-dra.xml
  artifacts:
    when: always
    reports:
      junit: pulumi-dra.xml
"""

_CI: Final = {
    "github": (".github/workflows/pulumi-dra.yml", _GITHUB),
    "gitlab": ("pulumi-dra.gitlab-ci.yml", _GITLAB),
}


def ci_files(kind: str, *, workloads: str) -> dict[str, str]:
    """Return the file that has the checks run for each change, by its path; none for "none"."""
    if kind == "none":
        return {}
    path, text = _CI[kind]
    return {path: text.format(install=f"pip install pulumi-dra=={version('pulumi-dra')}", workloads=workloads)}
