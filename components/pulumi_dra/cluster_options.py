"""Reading the options that DraPlatform takes for the cluster beside the fleet."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_dra.inputs import InputReader
from pulumi_dra.platform_options import ClusterOptions


def read_cluster_options(
    read: InputReader, names: Mapping[str, str], title: str, tags: dict[str, pulumi.Input[str]], *, node_repair: bool
) -> dict[str, Any]:
    """Return inputs of the cloud's cluster that are not the fleet's, under the `names` that its component has.

    What the options mean is checked with the cluster's other inputs.
    """
    options = read.block("cluster")
    read.inside("cluster", options, ClusterOptions)
    cluster: dict[str, Any] = {"deletion_protection": read.flag("deletion_protection", False)}
    given: dict[str, Any] = {
        "tags": tags,
        "secrets_kms_key": read.identifier("secrets_kms_key"),
        "admin_principal_arns": read.identifiers("admin_principal_arns") if read.has("admin_principal_arns") else None,
        "addon_versions": read.labels("addon_versions") if read.has("addon_versions") else None,
        "node_repair": True if node_repair else None,
    }
    for name, value in given.items():
        if value is not None and name in names:
            cluster[names[name]] = value
        elif value is not None and read.has(name):
            read.refuse(name, f"is not for {title}, where this fleet is")
    return cluster | {key: value for key, value in options.items() if key in ClusterOptions.__annotations__}
