"""A StorageClass for volumes that GPU nodes can attach, for clusters without a suitable one."""

import pulumi
from msgspec import Struct


class ClassOfVolumes(Struct, frozen=True, kw_only=True):
    """A StorageClass to declare."""

    name: str
    provisioner: str
    parameters: dict[str, str]
    is_default: bool


def declare_storage_class(
    name: str, volumes: ClassOfVolumes, options: pulumi.ResourceOptions
) -> None:
    """Declare the class. Volumes are created in the zone of the scheduled pod's node, and
    can grow.
    """
    # imported here because clusters and pools, which also know the class, don't need this SDK
    import pulumi_kubernetes as k8s

    annotations = (
        {"storageclass.kubernetes.io/is-default-class": "true"} if volumes.is_default else {}
    )
    k8s.storage.v1.StorageClass(
        f"{name}-{volumes.name}",
        metadata={"name": volumes.name, "annotations": annotations},
        provisioner=volumes.provisioner,
        parameters=volumes.parameters,
        volume_binding_mode="WaitForFirstConsumer",
        allow_volume_expansion=True,
        opts=options,
    )
