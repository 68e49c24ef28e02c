"""A storage class whose volumes GPU nodes can attach, where the cloud gives a cluster none."""

from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOfVolumes:
    """A StorageClass as it is declared."""

    name: str
    provisioner: str
    parameters: dict[str, str]
    is_default: bool


def declare_storage_class(
    name: str, volumes: ClassOfVolumes, options: pulumi.ResourceOptions
) -> None:
    """Declare the class; a volume is made in the zone of the node that its pod is placed on, and
    may grow.
    """
    # a cluster and its pools, which know the class as well, do without
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
