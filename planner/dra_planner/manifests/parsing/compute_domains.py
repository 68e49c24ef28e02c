"""The ResourceClaimTemplate that the NVIDIA driver's controller creates for the channels of a
ComputeDomain.

Source:
kubernetes-sigs/dra-driver-nvidia-gpu:templates/compute-domain-workload-claim-template.tmpl.yaml@v25.8.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.drivers import nvidia
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import (
    ClaimSpec,
    DeviceConfiguration,
    DeviceRequest,
    ExactDeviceRequest,
    ObjectMeta,
    ResourceClaimTemplate,
)


def channel_template(item: KubernetesObject) -> ResourceClaimTemplate | None:
    """Return the template, or None if the domain doesn't name one.

    Its configuration refers to the domain by namespace and name, because its UID is known only at
    run time.
    """
    spec = item.data.get("spec")
    channel = spec.get("channel") if isinstance(spec, Mapping) else None
    named = channel.get("resourceClaimTemplate") if isinstance(channel, Mapping) else None
    name = named.get("name") if isinstance(named, Mapping) else None
    if not isinstance(name, str) or not name:
        return None
    request = DeviceRequest(
        name="channel", exactly=ExactDeviceRequest(device_class_name=nvidia.CHANNEL_CLASS)
    )
    parameters = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomainChannelConfig",
        "domainID": f"{item.namespace}/{item.name}",
    }
    of_domain = DeviceConfiguration(
        requests=("channel",), driver=nvidia.COMPUTE_DOMAIN_DRIVER, parameters=parameters
    )
    meta = ObjectMeta(name=name, namespace=item.namespace, place=item.place)
    return ResourceClaimTemplate(
        meta=meta, spec=ClaimSpec(requests=(request,), config=(of_domain,))
    )
