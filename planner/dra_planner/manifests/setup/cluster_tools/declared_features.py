"""The feature gates and API versions that kind and kubeadm configurations turn on.

Sources: kubernetes-sigs/kind:pkg/apis/config/v1alpha4; kubernetes/kubernetes:
cmd/kubeadm/app/apis/kubeadm/v1beta4; kubernetes/apiserver:pkg/server/resourceconfig/helpers.go
(api/all, api/beta, api/alpha).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import pairs
from dra_planner.manifests.setup.cluster_tools.kind import kubeadm_patches
from dra_planner.manifests.setup.cluster_tools.kubeadm import extra_arguments
from dra_planner.manifests.workloads.kind_description import ObjectPart
from dra_planner.releases import OPTIONAL_VERSIONS, Features
from dra_planner.releases.features import GATES

_KIND: Final = "kind.x-k8s.io"
_KUBEADM: Final = "kubeadm.k8s.io"
_STAGES: Final = {"api/all": "/v", "api/beta": "/v1beta", "api/alpha": "/v1alpha"}
"""Names that switch several API versions, and the text that these versions contain."""


def declared_features(objects: Iterable[KubernetesObject], features: Features) -> Features:
    """Return the features with the gates and API versions that a cluster's configuration turns on.

    Several configurations can belong to several clusters, so settings that turn something off
    don't change the result.
    """
    settings = [setting for item in objects for setting in _settings(item)]
    on = {name for name, value in settings if value == "true"}
    gates = {
        field: True
        for field, gate in GATES.items()
        if gate.name in on and gate.is_known(features.minor)
    }
    stages = [text for name, text in _STAGES.items() if name in on]
    served = {
        name for name in OPTIONAL_VERSIONS if name in on or any(text in name for text in stages)
    }
    return features.with_gates(**gates).with_served(features.served | served)


def _settings(item: KubernetesObject) -> Iterator[tuple[str, str]]:
    """Yield the names of feature gates and API versions, with "true" or "false"."""
    if item.group == _KUBEADM and item.kind == "ClusterConfiguration":
        for name, value in extra_arguments(item.data.get("apiServer")):
            if name in ("runtime-config", "feature-gates"):
                yield from _switches(value)
    elif item.group == _KIND and item.kind == "Cluster":
        yield from pairs(item.data.get("featureGates"))
        yield from pairs(item.data.get("runtimeConfig"))
        cluster = ObjectPart(item.data, item.place)
        for part in (cluster, *(node for _, node in cluster.at("nodes").members())):
            for patch in kubeadm_patches(part):
                yield from _settings(patch)


def _switches(text: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a flag's value, NAME=true,NAME=false. A name without a value is on."""
    for part in text.strip("'\"").split(","):
        name, _, value = part.strip().partition("=")
        yield name, value.lower() or "true"
