"""Read the DRA driver and its values from the DaemonSets that the driver's chart renders.

A program that uses a Chart, kustomize, or YAML declares the driver's objects. The engine doesn't
show the inputs of the component around them. Source:
kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/dra-driver-nvidia-gpu/templates/
kubeletplugin.yaml@14046d00, the same in NVIDIA/k8s-dra-driver-gpu@12d2af7d.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dra_policies.stack.releases import DRIVER_CHARTS, driver_settings
from dra_policies.stack.resource import Resource, namespace_of
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping
from dra_policies.view.stack_view import InstalledDriver

_PLUGINS: Final = {"gpus": "gpus", "compute-domains": "computeDomains"}
"""Container names of the kubelet plugin, and the values that enable them."""
_IMAGE: Final = re.compile(r"(^|/)(k8s-dra-driver-gpu|dra-driver-nvidia-gpu)([:@]|$)")
_CHART: Final = re.compile(rf"({'|'.join(sorted(DRIVER_CHARTS))})-v?(\d\S*)")
_POD: Final = "spec.template.spec"
_PLACEMENT: Final[Mapping[str, Any]] = {"affinity": {}, "nodeSelector": {}, "tolerations": []}
_TRUE: Final = "true"


def driver_of_daemon_set(
    resource: Resource, others: Sequence[Resource] = ()
) -> InstalledDriver | None:
    """Return the DRA driver whose kubelet plugin a DaemonSet runs, or None if it runs another
    program.
    """
    if not resource.type.endswith(":DaemonSet"):
        return None
    pod = resource.props.below(_POD)
    containers = pod.items("containers") or ()
    names = {each.text("name") for each in containers}
    images = [each.text("image") or "" for each in containers]
    if not names & _PLUGINS.keys() or not any(_IMAGE.search(image) for image in images):
        return None
    values = Properties(_values(containers))
    metadata = resource.props.below("metadata")
    labels = resource.props.mapping("spec.template.metadata.labels") or {}
    domains = values.flag("resources.computeDomains.enabled", False)
    return InstalledDriver(
        title=resource.title("DaemonSet"),
        urn=resource.urn,
        namespace=namespace_of(resource, "metadata.namespace", others),
        version=_version(metadata),
        priority_class=pod.text("priorityClassName"),
        other_critical_pods=None if domains else 0,
        values=values,
        settings=driver_settings(values, domains),
        pod_labels={key: value for key, value in labels.items() if value is not None},
        pod=Properties(
            {
                key: default if pod.at(key) is None else pod.at(key)
                for key, default in _PLACEMENT.items()
            }
        ),
    )


def _values(containers: Sequence[Properties]) -> dict[str, Any]:
    """Return the chart's values that can be derived from the kubelet plugin's containers."""
    names = [each.text("name") for each in containers]
    own = [each for each in containers if each.text("name") in _PLUGINS]
    env = _env(own[0])
    shares = env.get("CONSUMABLE_SHARES")
    return {
        "nvidiaDriverRoot": env.get("NVIDIA_DRIVER_ROOT", UNKNOWN),
        "gpuResourcesEnabledOverride": True,  # the chart doesn't render without this value
        "resources": {value: {"enabled": name in names} for name, value in _PLUGINS.items()},
        "featureGates": _gates(env.get("FEATURE_GATES", "")),
        **({} if shares is None else {"consumableShares": shares}),
    }


def _env(container: Properties) -> dict[str, Any]:
    """Return the variables of a container by name. Values from other objects are unknown."""
    items = container.items("env") or ()
    return {
        each.text("name") or "": UNKNOWN if (text := each.text("value")) is None else text
        for each in items
    }


def _gates(text: Any) -> Any:
    """Return feature gates from `A=true,B=false,`."""
    if text is UNKNOWN:
        return UNKNOWN
    pairs = (each.partition("=") for each in text.split(",") if each)
    return {name: value == _TRUE for name, _, value in pairs}


def _version(metadata: Properties) -> str | None:
    """Return the version of the chart that rendered an object, or None without its label."""
    labels = as_mapping(metadata.at("labels")) or {}
    chart = labels.get("helm.sh/chart")
    found = _CHART.fullmatch(chart) if isinstance(chart, str) else None
    return found[2] if found else None
