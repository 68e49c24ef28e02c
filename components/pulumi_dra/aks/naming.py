"""Names and tags that Azure accepts."""

import re

import pulumi

from dra_planner.clouds.aks.network import LONGEST_LABEL_NAME
from dra_planner.wording import either
from pulumi_dra.inputs.reader import InputReader

CLUSTER_NAME, NETWORK_PART_NAME, IDENTITY_NAME, WORKSPACE_NAME = 63, 80, 128, 63
"""Characters: learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules."""
NODE_GROUP_NAME = 80
"""Name of the resource group that AKS creates for nodes: learn.microsoft.com/azure/aks/faq."""
LABEL_NAME = LONGEST_LABEL_NAME
"""Names of the nodes' group, network, and subnet. Azure allows longer ones, but they become node
labels.
"""
MOST = 45
"""Azure allows 50 tags per resource, and AKS adds its own to the resources that it creates."""
_TAKEN = ("azure", "microsoft", "windows")


def read_tags(read: InputReader) -> dict[str, pulumi.Input[str]]:
    """Return the input `tags`
    (learn.microsoft.com/azure/azure-resource-manager/management/tag-resources).
    """
    return read.labels("tags", most=MOST, check=_check)


def _check(key: str, value: str) -> str:
    if not 1 <= len(key) <= 512:
        return "must have a key of 1 to 512 characters"
    if re.search(r"[<>%&\\?/]", key):
        return "must have a key that doesn't contain < > % & \\ ? /"
    if key.lower().startswith(_TAKEN):
        return f"must not begin with {either(_TAKEN)}, because Azure reserves these prefixes"
    return "" if len(value) <= 256 else f"must have at most 256 characters, not {len(value)}"
