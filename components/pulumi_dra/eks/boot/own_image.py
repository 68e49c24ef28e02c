"""An image of one's own for a pool: EKS tells its nodes nothing, so what they join with is said
here.

awsdocs/amazon-eks-user-guide:latest/ug/nodes/launch-templates.adoc@f6004140, “Specifying an AMI”:
user data is not merged, and labels and taints of the group come after a node has joined, unless
kubelet is told them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from dra_planner.clouds.eks import CLOUD
from dra_planner.model import Taint
from pulumi_dra.eks.boot.config import JoiningNode
from pulumi_dra.inputs.reader import InputReader

AMI_TYPE = "CUSTOM"
"""Said although EKS would know: that it changes makes a new group, which EKS wants of a pool that
comes to an image of one's own, or goes back.
"""
_OF_THE_CLUSTER = ("cluster_endpoint", "cluster_certificate_authority", "service_cidr")
_OF_EKS_IMAGES = ("kubernetes_version", "release_version")
# Longer than any that EKS gives: a name of 100 characters, an endpoint, a certificate of 2048 bits
# in base64.
_PLACEHOLDERS = ("n" * 100, "https://" + "e" * 100, "c" * 2000, "255.255.255.255/32")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnImage:
    """Its id, and the cluster that its nodes join: name, endpoint, certificate (base64), range of
    the services.
    """

    id: pulumi.Input[str]
    cluster: tuple[pulumi.Input[str], ...]

    def user_data(
        self,
        labels: Mapping[str, pulumi.Input[str]],
        taints: Sequence[Taint],
        boot_config: Callable[[JoiningNode], str],
    ) -> pulumi.Output[str]:
        """Return what `boot_config` makes of the node, as soon as all of its parts are known."""
        known = pulumi.Output.all(*self.cluster, pulumi.Output.all(**labels))
        return known.apply(lambda parts: boot_config(_node(parts[:-1], parts[-1], taints)))


def longest_node(labels: Mapping[str, pulumi.Input[str]], taints: Sequence[Taint]) -> JoiningNode:
    """Return a node for which as much as possible has to be said, to see whether EC2 takes it."""
    values = {key: value if isinstance(value, str) else "v" * 63 for key, value in labels.items()}
    return _node(_PLACEHOLDERS, values, taints)


def read_own_image(read: InputReader) -> OwnImage | None:
    """Return the image that `image_id` names, None for EKS' own; faults of what goes with it are
    noted in `read`.
    """
    named = read.has("image_id")
    if fault := CLOUD.family_fault(read.text("image", "" if named else "al2023")):
        read.refuse("image", fault)
    identifier = read.identifier("image_id", check=CLOUD.image_id_fault)
    for key in _OF_EKS_IMAGES:
        if named and read.has(key):
            read.refuse(key, "is for EKS' images, but image_id names a custom image")
    return None if identifier is None else OwnImage(id=identifier, cluster=())


def read_joining(read: InputReader, image: OwnImage | None) -> OwnImage | None:
    """Return the image with the cluster that its nodes are told to join; faults are noted in
    `read`.
    """
    for key in _OF_THE_CLUSTER:
        if image is not None and not read.has(key):
            read.refuse(
                key, "is missing: with image_id, EKS doesn't configure nodes for their cluster"
            )
        elif image is None and read.has(key) and not read.has("image_id"):
            read.refuse(key, "is for image_id, because EKS configures nodes of its own images")
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
