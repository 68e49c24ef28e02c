"""How long names may be on AKS: learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules."""

from dra_planner.clouds.aks import LONGEST_LABEL_NAME

CLUSTER_NAME, NETWORK_PART_NAME, IDENTITY_NAME, WORKSPACE_NAME = 63, 80, 128, 63
NODE_GROUP_NAME = 80
"""Of the group that AKS makes for nodes: learn.microsoft.com/azure/aks/faq."""
LABEL_NAME = LONGEST_LABEL_NAME
"""Of group, network and subnet of nodes: Azure takes more, but they become labels of nodes."""
