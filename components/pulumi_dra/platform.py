"""Everything from a fleet and its plan: record, cluster, GPU pools, driver, classes, device plugin."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
import json
from typing import Any, NotRequired, TypedDict

import pulumi
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.planfile import PlanFile, canonical_text, check_inputs, parse_document

from pulumi_dra.capacity_plan import CapacityPlan
from pulumi_dra.children import Children
from pulumi_dra.inputs import InputReader


class DraPlatformArgs(TypedDict):
    """Inputs of DraPlatform."""

    fleet: str
    """The fleet: text of a YAML or JSON document."""
    plan: str
    """The plan made for it: text of the file that `pulumi-dra plan --write` makes."""
    admin_principal_arns: NotRequired[list[pulumi.Input[str]]]
    """EKS: IAM roles or users that administer the cluster. Default: the one who first creates it."""
    driver_chart: NotRequired[str]
    """Chart of the DRA driver instead of the published one: a path, an archive or an oci:// address."""
    device_plugin_chart: NotRequired[str]
    """Chart of the device plugin instead of the published one."""
    deletion_protection: NotRequired[bool]
    """Whether the cloud refuses to delete the cluster. Default false."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """EKS: tags; GKE: resource labels, on everything that takes them."""


class DraPlatform(pulumi.ComponentResource):
    """A cluster with GPU pools of the planned sizes, on which claims are served by the DRA driver."""

    cluster_name: pulumi.Output[str]
    """Name of the cluster."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig, secret; it holds no token."""
    kubeconfig_json: pulumi.Output[str]
    """The same as JSON text."""
    plan_digest: pulumi.Output[str]
    """Digest of the plan that this was built from."""
    verdict: pulumi.Output[str]
    """Verdict of that plan."""
    pool_max_nodes: pulumi.Output[dict[str, int]]
    """The most nodes of each pool."""

    def __init__(self, name: str, args: DraPlatformArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("DraPlatform", name, args, DraPlatformArgs)
        fleet, plan = _read_fleet_and_plan(read)
        tags = read.labels("tags")
        admins = read.identifiers("admin_principal_arns")
        driver_chart, plugin_chart = read.text("driver_chart", ""), read.text("device_plugin_chart", "")
        deletion_protection = read.flag("deletion_protection", False)
        if fleet and fleet.cloud != "eks" and read.has("admin_principal_arns"):
            read.refuse("admin_principal_arns", f"is for EKS; this fleet is on {fleet.cloud.upper()}")
        read.finish()
        assert fleet is not None  # `finish` has raised otherwise
        assert plan is not None

        super().__init__("pulumi-dra:index:DraPlatform", name, {}, opts)
        # First of all, so that a policy pack can refuse before anything is created; all else waits for it.
        record = CapacityPlan(f"{name}-plan", {"document": canonical_text(plan)}, opts=Children(self, opts).options())
        children = Children(
            self, pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[record.recorded]))
        )
        cloud_args: dict[str, Any] = {"deletion_protection": deletion_protection, "tags": tags}
        if read.has("admin_principal_arns"):
            cloud_args["admin_principal_arns"] = admins
        if fleet.cloud == "eks":
            from pulumi_dra.eks.from_fleet import declare_eks

            cluster = declare_eks(name, fleet, plan, cloud_args, children)
        else:
            from pulumi_dra.gke.from_fleet import declare_gke

            cluster = declare_gke(name, fleet, plan, cloud_args, children)
        from pulumi_dra.dra.from_fleet import declare_in_cluster

        declare_in_cluster(
            name, fleet, plan, cluster, children, driver_chart=driver_chart, device_plugin_chart=plugin_chart
        )

        self.cluster_name, self.endpoint = cluster.name, cluster.endpoint
        self.kubeconfig, self.kubeconfig_json = cluster.kubeconfig, cluster.kubeconfig_json
        self.plan_digest, self.verdict = record.digest, record.verdict
        self.pool_max_nodes = pulumi.Output.from_input({row.name: row.nodes.max for row in plan.pools})
        self.register_outputs(
            {
                "cluster_name": self.cluster_name,
                "endpoint": self.endpoint,
                "kubeconfig": self.kubeconfig,
                "kubeconfig_json": self.kubeconfig_json,
                "plan_digest": self.plan_digest,
                "verdict": self.verdict,
                "pool_max_nodes": self.pool_max_nodes,
            }
        )


def _read_fleet_and_plan(read: InputReader) -> tuple[Fleet | None, PlanFile | None]:
    fleet_text, plan_text = read.text("fleet"), read.text("plan")
    fleet, plan = None, None
    if fleet_text:
        try:
            fleet = read_fleet(_parse(fleet_text))
        except PlannerError as error:
            read.refuse("fleet", str(error))
        except ValueError as error:
            read.refuse("fleet", f"is neither YAML nor JSON: {error}")
    if plan_text:
        try:
            plan = parse_document(plan_text)
            if fleet is not None:
                check_inputs(plan, fleet, None)
        except PlannerError as error:
            read.refuse("plan", str(error))
    if fleet is not None:
        for path, reason in check_fleet(fleet):
            read.refuse(f"fleet.{path}", reason)
    return fleet, plan


def check_fleet(fleet: Fleet) -> list[tuple[str, str]]:
    """Return what this package cannot build of a fleet that is valid: path and reason of each."""
    faults: list[tuple[str, str]] = []
    if fleet.cloud == "gke" and fleet.device_plugin:
        faults.append(("devicePlugin", "GKE runs a device plugin of its own on nodes without DRA; set it to false"))
    for index, pool in enumerate(fleet.pools):
        if fleet.cloud == "gke" and pool.mig != "none":
            faults.append((f"pools[{index}].mig", "GKE does not support MIG with DRA; claim whole GPUs"))
    return faults


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        import yaml

        try:
            document: Any = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(str(error).split("\n")[0]) from None
        try:  # a stack's own settings file may be passed on as it is
            return document["config"]["pulumi-dra:fleet"]
        except (TypeError, KeyError):
            return document
