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
from dra_planner.manifests.workloads.known_kinds import (
    CLOUD_RESOURCES,
    CONFIGURATION_NOUNS,
    CREATES_PODS,
    KNOWN_GROUPS,
    KNOWN_KINDS,
)

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
    ("configsync.gke.io", "RepoSync"): ("its source isn't rendered", _BUILT),
    ("configsync.gke.io", "RootSync"): ("its source isn't rendered", _BUILT),
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
_MODEL_KEY: Final = re.compile(
    r"(?:base|served)?_?models?|models?[_-]?(?:ids?|names?|refs?|ur[il]s?|claims?|path|source)"
    r"|(?:\w+_)?model_(?:id|name|path)|resource_?profile",
    re.IGNORECASE,
)
_MODEL_KIND: Final = frozenset(
    {
        "Inference",
        "LLM",
        "Model",
        "Notebook",
        "Predictor",
        "Serving",
        "Train",
        "Trainer",
        "Training",
        "Tune",
        "Tuning",
    }
)
"""Words in the kinds of serving and training APIs."""
_TESTS_OF_KEYS: Final = (_KEY.search, _VALUE.search, _MODEL_KEY.fullmatch)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_DEEPEST: Final = 40


def unread_object(item: KubernetesObject) -> UnreadObject | None:
    """Return why pods of an unsupported object might be missing, or None if it doesn't create pods
    with devices.
    """
    title = _title(item)
    installer = INSTALLERS.get((item.group, item.kind))
    if installer is not None:
        reason, instead = installer
        return UnreadObject(title=title, reason=reason, instead=instead, place=item.place)
    if is_known(item):
        return None
    word = next(_mentions(item.data, 0), "")
    if word:
        reason = (
            f'its manifest mentions "{word}", but pulumi-dra doesn\'t know the kind {item.kind}'
        )
    elif not _MODEL_KIND.isdisjoint(_WORD.findall(item.kind)):
        reason = f"its kind {item.kind} might serve or train models, but pulumi-dra doesn't know it"
    else:
        return None
    return UnreadObject(title=title, reason=reason, instead=_RENDERED, place=item.place)


def object_of_unclear_kind(item: KubernetesObject) -> UnreadObject | None:
    """Return an object of an unknown kind that doesn't mention devices or models, but might create
    pods, or None if the kind's name states that its objects don't.
    """
    if is_known(item) or _is_configuration(item):
        return None
    return UnreadObject(
        title=_title(item),
        reason=f"pulumi-dra doesn't know whether the kind {item.kind} creates pods",
        instead="if it creates pods, add their manifests",
        place=item.place,
        missing="such pods",
    )


def _title(item: KubernetesObject) -> str:
    return f"{item.kind} {item.key}" if item.namespace else f"{item.kind} {item.name}"


def _is_configuration(item: KubernetesObject) -> bool:
    """Return True if the name of an unknown kind states that its objects only configure or describe
    something.
    """
    if (item.group, item.kind) in CREATES_PODS:
        return False
    last = next(reversed(_WORD.findall(item.kind)), item.kind)
    singular = {last, last.removesuffix("s"), f"{last.removesuffix('ies')}y"}
    return not singular.isdisjoint(CONFIGURATION_NOUNS)


def is_known(item: KubernetesObject) -> bool:
    """Return True if an object's kind doesn't create pods of workloads."""
    return (
        (item.group, item.kind) in KNOWN_KINDS
        or item.group in KNOWN_GROUPS
        or (item.group.endswith(CLOUD_RESOURCES) and not _embeds_manifest(item.data, 0))
    )


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
            if any(each(str(key)) for each in _TESTS_OF_KEYS):
                yield str(key)
            if key not in ("managedFields", "kind"):
                yield from _mentions(value, depth + 1)
    elif isinstance(data, list):
        for each in data:
            yield from _mentions(each, depth + 1)
    elif isinstance(data, str) and (found := _VALUE.search(data)):
        yield found[0]
