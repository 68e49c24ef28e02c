"""The input of the rules: a stack, or manifests and a fleet, as plain values.

Everything is optional, because a view can contain one resource (before its creation) or a whole
stack (`complete`). None means *not known*, unless the field's documentation states otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from dra_planner.clouds import DRA, Cloud, cloud
from dra_planner.errors import NOWHERE, Diagnostic, Place, PlannerError
from dra_planner.model import Taint
from dra_planner.records import equality
from dra_policies.unknown_values import Properties

NOTHING_DECLARED: Final = Properties({})

if TYPE_CHECKING:
    from dra_planner.drivers.nvidia import PublishingSettings
    from dra_planner.manifests import Manifests
    from dra_planner.model import Blocked, DeviceClass
    from dra_planner.plan import Judgement, OtherDevices, Plan
    from dra_planner.planfile import PlanFile
    from dra_planner.releases import Features


class Record(Struct, frozen=True, kw_only=True):
    """The recorded plan of a stack. Either `plan_file` or `problem` is set, or neither if it isn't
    known yet.
    """

    urn: str
    plan_file: PlanFile | None = None
    problem: str = ""


class DeclaredPool(Struct, frozen=True, kw_only=True):
    """A node group or node pool as a stack declares it. Counts are totals over all zones."""

    urn: str
    title: str  # 'node group "l4"'
    cloud: str
    name: str | None  # from its label `pulumi-dra/pool`, or "" without this label
    machine: str | None
    count_min: int | None
    count_desired: int | None
    count_max: int | None
    labels: Mapping[str, str | None] | None
    taints: tuple[Taint, ...] | None
    has_gpus: bool | None  # None: unknown machine
    image: str | None = ""
    leaves_desired: bool = False  # another program changes the desired count after creation
    # nothing scales this pool, so its minimum and maximum equal its desired count
    is_fixed: bool = False
    # a DRA driver of the stack selects its nodes, although they don't have the DRA label
    runs_driver: bool | None = False
    own: Properties = NOTHING_DECLARED  # the pool, as described by the cloud's resource
    # whether its cluster has Dataplane V2; None if the cloud doesn't offer it
    has_dataplane_v2: bool | None = None
    # the launch template of its machines, if it's a resource of the stack
    template: Properties | None = None
    template_urn: str = ""
    cluster_urn: str = ""  # "" if its cluster is unknown
    release: str | None = ""  # version of its node image, or the end of that version
    boot_script: str | None = ""  # script that its nodes run at boot
    # types of the resources that provide its purchased capacity
    made_from: frozenset[str] = frozenset()
    # taints of new nodes, until another program removes them
    startup_taints: tuple[Taint, ...] = ()

    @property
    def offer_name(self) -> str:
        """The pool's name in a fleet: its own name, or otherwise its resource's name."""
        text = self.name or self.title.partition('"')[2].partition('"')[0]
        return cloud(self.cloud).pool_name(text) or "pool"

    @property
    def is_labelled(self) -> bool | None:
        """Whether its nodes have the DRA label that the driver's kubelet plugin selects here."""
        if self.labels is None:
            return None
        value = self.labels.get(DRA, "")
        return None if value is None else value == "true"

    @property
    def is_dra(self) -> bool | None:
        """Whether its nodes are DRA nodes, by their label or otherwise by the driver that runs on
        them.
        """
        if self.is_labelled is False and self.labels is not None and DRA not in self.labels:
            return self.runs_driver if self.has_gpus is not False else False
        return self.is_labelled


class MigManager(Struct, frozen=True, kw_only=True):
    """A GPU Operator that sets its own MIG configuration on nodes without one, which
    disables MIG.
    """

    title: str
    urn: str
    certain: bool  # False if some of its values are unknown


class Operator(Struct, frozen=True, kw_only=True):
    """A release of the GPU Operator or a ClusterPolicy, with its values. `chart` is "" for a
    ClusterPolicy.
    """

    title: str
    urn: str
    values: Properties
    chart: str = ""

    @property
    def shown(self) -> str:
        """The operator's name in messages about one of its parts."""
        return f"{self.title} ({self.chart})" if self.chart else self.title


class SecondDriver(Struct, frozen=True, kw_only=True):
    """A DRA driver for NVIDIA GPUs that isn't installed from its chart, but by an operator, a
    cloud, or an image. `fix` turns it off. Without a fix, the user must remove either `removable`
    or the driver's release.
    """

    title: str
    urn: str
    fix: str = ""
    removable: str = ""


class Installer(Struct, frozen=True, kw_only=True):
    """A DaemonSet that installs the NVIDIA driver on nodes, and the version that it sets, or ""."""

    title: str
    urn: str
    version: str
    pod: Properties


class ClosedGroup(Struct, frozen=True, kw_only=True):
    """A security group of EFA interfaces that blocks traffic to itself."""

    title: str
    urn: str
    pool: str
    missing: str  # ingress or egress


class PluginWorkload(Struct, frozen=True, kw_only=True):
    """A workload that runs NVIDIA's device plugin. `pod` has its nodeSelector, affinity, and
    tolerations.
    """

    title: str  # for example 'Release "nvidia-device-plugin"'
    pod: Properties
    urn: str = ""
    place: Place = NOWHERE
    # a node label with which the value "false" keeps this plugin off the node
    opt_out_label: str = ""


class InstalledDriver(Struct, frozen=True, kw_only=True):
    """A release of the DRA driver's chart, or the objects that the chart renders."""

    title: str
    urn: str
    namespace: str | None
    version: str | None  # "" means the newest version
    priority_class: str | None  # image tag of its kubelet plugin, or "" if it isn't set
    other_critical_pods: int | None  # controllers and webhooks
    # settings that are known, with the names that a fleet uses
    settings: Mapping[str, Any] = {}
    # values as passed to the chart; None if files contain more values
    values: Properties | None = None
    # known labels of its pods
    pod_labels: Mapping[str, str] = {}
    pod: Properties | None = None  # DaemonSet of its kubelet plugin, if the chart is rendered


class NvidiaInUse(Struct, frozen=True):
    """The version and settings of NVIDIA's DRA driver on the nodes."""

    version: str
    settings: PublishingSettings


class CriticalPodQuota(Struct, frozen=True, kw_only=True):
    """A ResourceQuota over pods of the priority class system-node-critical."""

    urn: str
    title: str
    namespace: str | None
    pods: int | None


class KubernetesVersion(Struct, frozen=True, kw_only=True):
    """The Kubernetes version of a cluster or a pool. `minor` is None if it isn't stated."""

    urn: str
    title: str
    property: str
    minor: int | None
    is_cluster: bool = False
    is_floor: bool = False  # the cloud might run a newer version
    cloud: str = ""


@equality(unhashed=("sources",))
class DeclaredResource(Struct, frozen=True, kw_only=True):
    """A cloud resource as declared. `sources` are the URNs of the resources that each property
    comes from. `of_outputs` are the properties that the program doesn't set. `version` and
    `namespace` are those of a chart, or "" if they're unknown. `ignore_changes` are the properties
    that updates don't change.
    """

    urn: str
    type: str
    name: str
    props: Properties
    sources: Mapping[str, tuple[str, ...]] = {}
    of_outputs: frozenset[str] = frozenset()
    version: str = ""
    namespace: str = ""
    ignore_changes: tuple[str, ...] = ()

    def sources_of(self, path: str) -> frozenset[str]:
        """Return the URNs of the resources that a property, or a part of it, comes from."""
        head = path.partition(".")[0]
        return frozenset(
            urn
            for key, urns in self.sources.items()
            if key in (path, head) or key.startswith((f"{path}.", f"{path}["))
            for urn in urns
        )


@equality(ignored=("plan",), unhashed=("classes", "thresholds", "planned_classes"))
class StackView(Struct, frozen=True, kw_only=True):
    """The facts that rules check."""

    record: Record | None = None
    expects_record: bool = False  # a Pulumi stack has a record, but manifests don't
    # True for the whole stack; otherwise, the view contains one resource and all earlier ones
    complete: bool = False
    pools: tuple[DeclaredPool, ...] = ()
    scaling_groups: tuple[DeclaredPool, ...] = ()  # nodes that don't belong to a managed pool
    device_plugins: tuple[PluginWorkload, ...] = ()
    mig_managers: tuple[MigManager, ...] = ()
    operators: tuple[Operator, ...] = ()
    closed_efa_groups: tuple[ClosedGroup, ...] = ()
    second_drivers: tuple[SecondDriver, ...] = ()
    installers: tuple[Installer, ...] = ()
    charts: frozenset[str] = frozenset()  # names of the charts that releases install
    # each chart with its values as properties, and with the type "chart:NAME"
    installed_charts: tuple[DeclaredResource, ...] = ()
    drivers: tuple[InstalledDriver, ...] = ()
    quotas: tuple[CriticalPodQuota, ...] = ()
    versions: tuple[KubernetesVersion, ...] = ()
    declared: tuple[DeclaredResource, ...] = ()
    # Kubernetes resources, chart releases, and providers; only for whole stacks
    objects: tuple[DeclaredResource, ...] = ()
    today: date = date.min  # date.min if no date is set
    region: str = ""  # "" if it's unknown
    wants_devices: bool = False  # the stack contains a part that exists for claims
    has_gpu_operator: bool = False
    installs_charts: bool = False  # resources in a cluster that the stack creates
    nvidia: NvidiaInUse | None = None  # pools of a fleet, or pools that a stack declares
    # pools about which too little is known to predict their nodes
    doubtful_pools: tuple[str, ...] = ()
    # result for the whole demand, on the pools of the record, the stack, a fleet, or a snapshot
    judgement: Judgement | None = None
    # the same result, including pods that don't request devices
    whole_judgement: Callable[[], Judgement] | None = None
    # pods that request devices from drivers that the fleet doesn't run
    other_devices: tuple[OtherDevices, ...] = ()
    # pods for which it's unknown whether they request devices
    not_described: tuple[Blocked, ...] = ()
    judged_urn: str = ""  # the resource to report if a workload isn't a resource itself
    # objects of the stack or of files, with URNs or file names as their places
    manifests: Manifests | None = None
    features: Features | None = None  # set with `manifests`
    # findings from reading the manifests and from planning
    diagnostics: tuple[Diagnostic, ...] = ()
    classes: Mapping[str, DeviceClass] = {}
    # thresholds that a project sets, by rule
    thresholds: Mapping[str, float] = {}
    planned_classes: Mapping[str, DeviceClass] = {}
    stack: str = ""  # its name, or "" if it doesn't have one
    # the plan that `judgement` is part of
    plan: Callable[[], Plan] | None = None
    unknowns: tuple[str, ...] = ()  # sentences that explain why the stack couldn't be evaluated
    # why the claims couldn't be checked against the stack's pools
    judgement_errors: tuple[PlannerError, ...] = ()

    @property
    def node_pools(self) -> tuple[DeclaredPool, ...]:
        """The managed pools, and the nodes without one."""
        return (*self.pools, *self.scaling_groups)

    def only_cluster(self, of_cloud: Cloud) -> DeclaredResource | None:
        """Return the stack's cluster in this cloud, or None if there isn't exactly one."""
        clusters = [each for each in self.declared if each.type == of_cloud.cluster.token]
        return clusters[0] if len(clusters) == 1 else None

    @property
    def inner_pools(self) -> tuple[DeclaredPool, ...]:
        """The pools that another resource declares, for example their cluster."""
        types = {each.urn: each.type for each in self.declared}
        return tuple(
            pool
            for pool in self.pools
            if pool.own.values and types.get(pool.urn) != cloud(pool.cloud).pool.token
        )

    @property
    def is_early(self) -> bool:
        """Whether more resources of the stack follow. Findings that depend on its driver or pools
        are reported once, at the end.
        """
        return self.expects_record and not self.complete
