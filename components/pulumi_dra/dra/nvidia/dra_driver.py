"""The NVIDIA DRA driver: its namespace, its quota on GKE, and its pinned Helm release."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import pulumi
import pulumi_kubernetes as k8s

from dra_planner.drivers.nvidia import DriverRelease
from pulumi_dra.child_options import Children
from pulumi_dra.dra.nvidia.crds import declare_crds
from pulumi_dra.dra.nvidia.driver_inputs import DraDriverArgs, DraDriverInputs, read_driver_inputs
from pulumi_dra.dra.nvidia.driver_values import driver_values
from pulumi_dra.dra.nvidia.quota import critical_pods, critical_pods_quota
from pulumi_dra.dra.nvidia.slice_policy import declare_slice_policy
from pulumi_dra.dra.releases.namespaces import declare_privileged_namespace
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.inputs.reader import InputReader

RELEASE = "nvidia-dra-driver"


class DraDriver(pulumi.ComponentResource):
    """The NVIDIA DRA driver on nodes with the `nvidia.com/gpu.dra=true` label."""

    namespace: pulumi.Output[str]
    """Namespace of the driver."""
    version: pulumi.Output[str]
    """Version of the chart."""
    status: pulumi.Output[str]
    """Status of the Helm release. The status "deployed" doesn't mean that the driver runs on the
    nodes, so also check the ResourceSlices.
    """

    def __init__(
        self, name: str, args: DraDriverArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("DraDriver", name, args, DraDriverArgs)
        inputs = read_driver_inputs(read)
        read.finish()
        assert inputs.release is not None  # otherwise, `finish` has raised an error
        super().__init__("pulumi-dra:index:DraDriver", name, {}, opts)
        self._children = Children(self, opts)
        home = declare_privileged_namespace(name, inputs.namespace, self._children)
        first = [
            home,
            *self._declare_quota(inputs, home),
            *(
                declare_slice_policy(name, inputs.namespace, self._children)
                if inputs.own_slices_only
                else []
            ),
            *declare_crds(name, inputs.crds, self._children),
        ]
        installed = self._declare_release(inputs, inputs.release, home, first)
        self.namespace = home.metadata.name
        self.version = pulumi.Output.from_input(inputs.release.version)
        self.status = installed.status.apply(lambda status: require_deployed(RELEASE, status))
        self.register_outputs(
            {"namespace": self.namespace, "version": self.version, "status": self.status}
        )

    def _declare_quota(
        self, inputs: DraDriverInputs, home: k8s.core.v1.Namespace
    ) -> list[pulumi.Resource]:
        pods = critical_pods(inputs.settings, inputs.max_nodes)
        if not pods:
            return []
        quota = k8s.core.v1.ResourceQuota(
            f"{self._name}-critical-pods",
            metadata={"name": "critical-pods", "namespace": home.metadata.name},
            spec=critical_pods_quota(pods),
            opts=self._children.options(),
        )
        return [quota]

    def _declare_release(
        self,
        inputs: DraDriverInputs,
        release: DriverRelease,
        home: k8s.core.v1.Namespace,
        depends_on: list[pulumi.Resource],
    ) -> k8s.helm.v3.Release:
        own_chart = bool(inputs.chart)
        return k8s.helm.v3.Release(
            f"{self._name}-release",
            name=RELEASE,
            namespace=home.metadata.name,
            chart=inputs.chart or release.chart_reference,
            version=None if own_chart else release.version,
            repository_opts=None if own_chart or release.is_oci else {"repo": release.repository},
            values=driver_values(release, inputs.settings),
            create_namespace=False,
            skip_crds=bool(inputs.crds),
            timeout=600,
            opts=self._children.options(
                depends_on=depends_on,
                # With other object names, Helm would start the new plugin before it removes the old
                # one, and both would serve the same driver. Therefore, the old release is deleted
                # first. DeviceClasses are cluster-wide and keep their names, so two releases would
                # also conflict.
                replace_on_changes=["values.nameOverride"],
                delete_before_replace=True,
            ),
        )
