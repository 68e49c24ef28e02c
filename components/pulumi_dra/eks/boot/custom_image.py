"""A custom image of a pool. EKS doesn't configure its nodes, so this module adds the settings for
joining the cluster.

awsdocs/amazon-eks-user-guide:latest/ug/nodes/launch-templates.adoc@f6004140, “Specifying an AMI”:
EKS doesn't merge user data, and it sets the group's labels and taints only after a node joins,
unless kubelet's flags contain them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi
from msgspec import Struct

from dra_planner.clouds.eks import CLOUD
from dra_planner.model import Taint
from pulumi_dra.eks.boot.user_data import JoiningNode
from pulumi_dra.inputs.reader import InputReader

AMI_TYPE = "CUSTOM"
"""Set although EKS knows the value, because changing it creates a new node group, which EKS
requires when a pool changes to or from a custom image.
"""
_OF_THE_CLUSTER = ("cluster_endpoint", "cluster_certificate_authority", "service_cidr")
_OF_EKS_IMAGES = ("kubernetes_version", "release_version")
# Longer than any real values: a name with 100 characters, an endpoint, and a 2048-bit certificate
# in base64.
_PLACEHOLDERS = ("n" * 100, "https://" + "e" * 100, "c" * 2000, "255.255.255.255/32")


class OwnImage(Struct, frozen=True, kw_only=True):
    """The ID of the image, and the cluster that its nodes join: name, endpoint, certificate
    (base64), service CIDR.
    """

    id: pulumi.Input[str]
    cluster: tuple[pulumi.Input[str], ...]

    def user_data(
        self,
        labels: Mapping[str, pulumi.Input[str]],
        taints: Sequence[Taint],
        boot_config: Callable[[JoiningNode], str],
    ) -> pulumi.Output[str]:
        """Return the node's user data as soon as all of its parts are known."""
        known = pulumi.Output.all(*self.cluster, pulumi.Output.all(**labels))
        return known.apply(lambda parts: boot_config(_node(parts[:-1], parts[-1], taints)))


def longest_node(labels: Mapping[str, pulumi.Input[str]], taints: Sequence[Taint]) -> JoiningNode:
    """Return a node with the longest possible settings, to check whether EC2 accepts their size."""
    values = {key: value if isinstance(value, str) else "v" * 63 for key, value in labels.items()}
    return _node(_PLACEHOLDERS, values, taints)


def read_own_image(read: InputReader) -> OwnImage | None:
    """Return the image in `image_id`, or None for the EKS image. Errors in related inputs are
    recorded in `read`.
    """
    named = read.has("image_id")
    if fault := CLOUD.family_fault(read.text("image", "" if named else "al2023")):
        read.refuse("image", fault)
    identifier = read.identifier("image_id", check=CLOUD.image_id_fault)
    for key in _OF_EKS_IMAGES:
        if named and read.has(key):
            read.refuse(
                key, "applies only to EKS-provided images, but image_id sets a custom image"
            )
    return None if identifier is None else OwnImage(id=identifier, cluster=())


def read_joining(read: InputReader, image: OwnImage | None) -> OwnImage | None:
    """Return the image with the cluster that its nodes join. Errors are recorded in `read`."""
    for key in _OF_THE_CLUSTER:
        if image is not None and not read.has(key):
            read.refuse(
                key,
                "is required with image_id, because EKS doesn't add the cluster's settings to "
                "nodes that use a custom image",
            )
        elif image is None and read.has(key) and not read.has("image_id"):
            read.refuse(
                key,
                (
                    "applies only with image_id, because EKS adds the cluster's settings to "
                    "nodes that use its own images"
                ),
            )
    parts: list[Any] = [read.identifier(key) or "" for key in ("cluster_name", *_OF_THE_CLUSTER)]
    return None if image is None else OwnImage(id=image.id, cluster=tuple(parts))


def _node(
    cluster: Sequence[str], labels: Mapping[str, str], taints: Sequence[Taint]
) -> JoiningNode:
    name, endpoint, authority, cidr = cluster
    return JoiningNode(
        cluster={
            "name": name,
            "apiServerEndpoint": endpoint,
            "certificateAuthority": authority,
            "cidr": cidr,
        },
        labels=labels,
        taints=taints,
    )
