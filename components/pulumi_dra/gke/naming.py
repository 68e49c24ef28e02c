"""Resource names and billing labels that Google Cloud accepts."""

import re

import pulumi

from pulumi_dra.inputs.reader import InputReader

CLUSTER_NAME = NODE_POOL_NAME = 40
NODE_POOL_PATTERN = r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?"  # GKE API, NodePool
COMPUTE_NAME = 63
"""Characters in the names of networks, subnets, routers, and gateways."""
MOST = 60
"""Google Cloud allows 64 labels per resource, and the components and GKE add their own."""


def read_resource_labels(read: InputReader) -> dict[str, pulumi.Input[str]]:
    """Return the input `resource_labels` (Resource Manager, “Requirements for labels”)."""
    return read.labels("resource_labels", most=MOST, check=_check)


def _check(key: str, value: str) -> str:
    if not re.fullmatch(r"[a-z][-_a-z0-9]{0,62}", key):
        return (
            "must have a key of at most 63 lowercase letters, digits, -, and _ that begins with a "
            "letter"
        )
    if not re.fullmatch(r"[-_a-z0-9]{0,63}", value):
        return f'must have at most 63 lowercase letters, digits, -, and _, not "{value}"'
    return ""
