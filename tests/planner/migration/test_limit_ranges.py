"""Containers that get a device from a LimitRange instead of their manifest."""

from __future__ import annotations

from typing import Any

import yaml

from dra_planner.migration import Migration, Result, Target, migrate
from dra_planner.sources import Source

LIMIT_RANGE = """\
apiVersion: v1
kind: LimitRange
metadata: {name: gpus, namespace: ml}
spec:
  limits:
    - type: Container
      default: {memory: 1Gi, nvidia.com/gpu: "1"}
---
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: implicit, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
        - name: main # gets a GPU by default
          image: example/main:1
        - name: side
          image: example/side:1
          resources: {limits: {nvidia.com/gpu: 0}}
"""


def migrated(namespace: str = "ml", *keep: str) -> Migration:
    text = LIMIT_RANGE + DEPLOYMENT.replace("NAMESPACE", namespace)
    return migrate([Source("a.yaml", text)], Target(minor=36, keep=frozenset(keep)))


def containers(found: Migration) -> list[dict[str, Any]]:
    documents = list(yaml.safe_load_all(found.files[0].text))
    pod = documents[-1]["spec"]["template"]["spec"]
    return [each.get("resources", {}) for each in pod["containers"]]


def test_container_with_a_default_gpu_requests_a_claim() -> None:
    found = migrated()

    assert [each.result for each in found.templates] == [Result.REWRITTEN]
    assert found.templates[0].devices == 1
    main, side = containers(found)
    assert main == {"claims": [{"name": "gpu", "request": "main"}]}
    assert side == {"limits": {"nvidia.com/gpu": 0}}
    assert 'nvidia.com/gpu: "1"' not in found.files[0].text
    assert "# gets a GPU by default" in found.files[0].text


def test_pod_kept_on_the_plugin_requests_its_default_explicitly() -> None:
    found = migrated("ml", "ml/implicit")

    assert [each.result for each in found.templates] == [Result.KEPT]
    assert containers(found)[0] == {"limits": {"nvidia.com/gpu": "1"}}


def test_limit_range_does_not_affect_other_namespaces() -> None:
    assert not migrated("other").templates
