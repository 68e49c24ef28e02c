"""What the objects inside a cluster need to know of it, whichever cloud it is on."""

from dataclasses import dataclass
from typing import Any

import pulumi


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltCluster:
    """A cluster that has been declared, with its pools."""

    name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[dict[str, Any]]
    kubeconfig_json: pulumi.Output[str]
    resource: pulumi.Resource  # what is there goes with it
    usable: list[pulumi.Resource]  # before anything runs in it
    pools: list[pulumi.Resource]  # what runs on their nodes is deleted before them
