"""Kueue objects for tests: a queue whose quota covers only CPU."""

from __future__ import annotations


def cpu_queue(namespace: str) -> str:
    """Return a ResourceFlavor, a ClusterQueue, and the LocalQueue "team" of a namespace, as
    documents that end with a separator.
    """
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {{name: gpus}}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {{name: all}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{{name: gpus, resources: [{{name: cpu, nominalQuota: 8}}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: team, namespace: {namespace}}}
spec: {{clusterQueue: all}}
---
"""
