"""The interface of a cloud's `from_fleet.py`, which creates a cluster from a fleet and its plan."""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from pulumi_dra.built_cluster import BuiltCluster
from pulumi_dra.child_options import Children
from pulumi_dra.cloud_folders import cloud_folders
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


class CloudComponents(Protocol):
    """The module `pulumi_dra.<cloud>.from_fleet`."""

    CLUSTER_INPUTS: Mapping[str, str]
    """The names of `DraPlatform`'s common inputs → their names in this cloud's cluster. Inputs that
    are missing here don't apply to the cloud. The program sets tags in every stack.
    """

    def check_cluster(
        self, read: InputReader, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile
    ) -> None:
        """Record in `read` which inputs the cluster and the pools would reject, before any resource
        is declared.
        """
        ...

    def declare_cluster(
        self, name: str, inputs: DraPlatformInputs, fleet: Fleet, plan: PlanFile, children: Children
    ) -> BuiltCluster:
        """Declare the cluster and its pools."""
        ...


def components_of(name: str) -> CloudComponents:
    """Return the components of a cloud and import only them. Raises ImportError if it has none."""
    if name not in cloud_folders():
        raise ImportError(
            f"the installed packages don't include components for {cloud(name).title}"
        )
    return cast(CloudComponents, import_module(f"pulumi_dra.{name}.from_fleet"))
