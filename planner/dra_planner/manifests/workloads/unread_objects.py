"""Detect objects of unsupported kinds that may create pods with devices.

Kinds of known groups don't create pods of workloads. Objects that install other objects always
might. For other kinds, the result depends on whether the object mentions claims, devices, or pod
templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.manifests.manifests import UnreadObject
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kinds import CONFIGURATIONS

_RENDERED: Final = "add manifests for the pods that this object creates"
_CHART: Final = "render the chart first: `helm template … | pulumi-dra plan -`"
_BUILT: Final = "build the kustomization first: `kustomize build … | pulumi-dra plan -`"
_NODES: Final = "add the nodes to the fleet as a pool"
_PODS: Final = "add manifests for the pods that need the capacity"

INSTALLERS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("helm.toolkit.fluxcd.io", "HelmRelease"): ("the chart isn't rendered", _CHART),
    ("helm.cattle.io", "HelmChart"): ("the chart isn't rendered", _CHART),
    ("helm.cattle.io", "HelmChartConfig"): ("the chart isn't rendered", _CHART),
    ("argoproj.io", "Application"): ("its source isn't rendered", _BUILT),
    ("argoproj.io", "ApplicationSet"): ("its applications aren't generated", _BUILT),
    ("kustomize.toolkit.fluxcd.io", "Kustomization"): ("its kustomization isn't built", _BUILT),
    ("fleet.cattle.io", "GitRepo"): ("its paths aren't rendered", _BUILT),
    ("cluster.x-k8s.io", "MachineDeployment"): (
        "it creates nodes, but the plan reads nodes only from the fleet",
        _NODES,
    ),
    ("cluster.x-k8s.io", "MachineSet"): (
        "it creates nodes, but the plan reads nodes only from the fleet",
        _NODES,
    ),
    ("cluster.x-k8s.io", "MachinePool"): (
        "it creates nodes, but the plan reads nodes only from the fleet",
        _NODES,
    ),
    ("cluster.x-k8s.io", "Cluster"): (
        "it creates nodes, but the plan reads nodes only from the fleet",
        _NODES,
    ),
    ("autoscaling.x-k8s.io", "ProvisioningRequest"): (
        "it requests nodes before its pods exist",
        _PODS,
    ),
}
"""Kinds that create objects from references, each with the reason why they can't be read, and the
input to use instead.
"""

_KNOWN_GROUPS: Final = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "autoscaling",
        "certificates.k8s.io",
        "config.kueue.x-k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "eksctl.io",
        "flowcontrol.apiserver.k8s.io",
        "gateway.networking.k8s.io",
        "karpenter.azure.com",
        "karpenter.k8s.aws",
        "karpenter.sh",
        "keda.sh",
        "kind.x-k8s.io",
        "kubeadm.k8s.io",
        "kubelet.config.k8s.io",
        "kubescheduler.config.k8s.io",
        "kueue.x-k8s.io",
        "kustomize.config.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "resource.nvidia.com",
        "scheduling.k8s.io",
        "snapshot.storage.k8s.io",
        "storage.k8s.io",
        "cert-manager.io",
        "cilium.io",
        "config.openshift.io",
        "crd.projectcalico.org",
        "external-secrets.io",
        "image.toolkit.fluxcd.io",
        "integreatly.org",
        "grafana.integreatly.org",
        "kubermatic.k8c.io",
        "kyverno.io",
        "machine.openshift.io",
        "machineconfiguration.openshift.io",
        "mellanox.com",
        "metallb.io",
        "monitoring.coreos.com",
        "monitoring.googleapis.com",
        "networking.gke.io",
        "networking.istio.io",
        "nfd.k8s-sigs.io",
        "nfd.openshift.io",
        "notification.toolkit.fluxcd.io",
        "nvidia.com",
        "operator.openshift.io",
        "operators.coreos.com",
        "projectcontour.io",
        "scheduling.run.ai",
        "scheduling.x-k8s.io",
        "scheduling.volcano.sh",
        "security.istio.io",
        "security.openshift.io",
        "source.toolkit.fluxcd.io",
        "templates.gatekeeper.sh",
        "traefik.io",
        "user.openshift.io",
        "vpcresources.k8s.aws",
        "k8s.cni.cncf.io",
        "sriovnetwork.openshift.io",
        "cloud.google.com",
        "batch.volcano.sh",
        "bus.volcano.sh",
        "flow.volcano.sh",
    }
)
"""Groups of objects that configure a cluster. Their kinds that create pods are read as
workloads.
"""

_KEY: Final = re.compile(
    r"resource-?claim|device-?class|claim-?template|gpus?\b|^num_?gpu|accelerator|\btpus?\b|neuron|^devices?$"
    r"|pod-?template|pod-?spec|^containers$",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(
    r"nvidia\.com/|amd\.com/gpu|\bgpus?\b|google\.com/tpu|aws\.amazon\.com/neuron|resource\.k8s\.io|dra-claim",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"\bresourceClaim(?:s|TemplateName)?\b|\bdeviceClassName\b|\bResourceClaim(?:Template)?\b"
    r"|\b(?:nvidia|amd)\.com/(?:gpu|mig)|google\.com/tpu|aws\.amazon\.com/neuron"
)
_DEEPEST: Final = 40


def unread_object(item: KubernetesObject) -> UnreadObject | None:
    """Return why pods of an unsupported object might be missing, or None if it doesn't create pods
    with devices.
    """
    title = f"{item.kind} {item.key}" if item.namespace else f"{item.kind} {item.name}"
    installer = INSTALLERS.get((item.group, item.kind))
    if installer is not None:
        reason, instead = installer
        return UnreadObject(title=title, reason=reason, instead=instead, place=item.place)
    if (item.group, item.kind) in CONFIGURATIONS:
        return None
    if item.group in _KNOWN_GROUPS or (
        item.group.endswith((".cnrm.cloud.google.com", ".crossplane.io", ".upbound.io"))
        and not _embeds_manifest(item.data, 0)
    ):
        return None
    word = next(_mentions(item.data, 0), "")
    if not word:
        return None
    reason = f'its manifest contains "{word}", but pulumi-dra doesn\'t know the kind {item.kind}'
    return UnreadObject(title=title, reason=reason, instead=_RENDERED, place=item.place)


def _embeds_manifest(data: Any, depth: int) -> bool:
    """Return True if an object contains another object, as with Crossplane's
    provider-kubernetes.
    """
    if depth > _DEEPEST:
        return False
    below = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    if isinstance(data, Mapping) and isinstance(data.get("manifest"), Mapping):
        return "kind" in data["manifest"]
    return any(_embeds_manifest(each, depth + 1) for each in below)


def find_device_words(text: str) -> str:
    """Return a word that suggests that text other than YAML requests devices, or ""."""
    found = _REQUEST.search(text)
    return found[0] if found else ""


def _mentions(data: Any, depth: int) -> Iterator[str]:
    """Yield the words with which objects request claims, devices, and pods."""
    if depth > _DEEPEST:
        return
    if isinstance(data, Mapping):
        if isinstance(data.get("image"), str) and any(
            key in data for key in ("replicas", "command", "args")
        ):
            yield "image"
        for key, value in data.items():
            if _KEY.search(str(key)) or _VALUE.search(str(key)):
                yield str(key)
            if key not in ("managedFields", "kind"):
                yield from _mentions(value, depth + 1)
    elif isinstance(data, list):
        for each in data:
            yield from _mentions(each, depth + 1)
    elif isinstance(data, str) and (found := _VALUE.search(data)):
        yield found[0]
