"""The input of the rules: a stack, or manifests and a fleet, as plain values.

Everything is optional, because a view can contain one resource (before its creation) or a whole
stack (`complete`). None means *not known*, unless the field's documentation states otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from dra_planner.clouds import DRA, cloud
from dra_planner.errors import NOWHERE, Diagnostic, Place
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
    name: str | None  # by its label `pulumi-dra/pool`; "" without one
    machine: str | None
    count_min: int | None
    count_desired: int | None
    count_max: int | None
    labels: Mapping[str, str | None] | None
    taints: tuple[Taint, ...] | None
    has_gpus: bool | None  # None: unknown machine
    image: str | None = ""
    leaves_desired: bool = False  # somebody else changes the desired count after creation
    is_fixed: bool = False  # nothing grows this pool: minimum and maximum are its desired count
    # a DRA driver of the stack selects its nodes, which are not labelled for it
    runs_driver: bool | None = False
    own: Properties = NOTHING_DECLARED  # the pool as its cloud's resource says it
    has_dataplane_v2: bool | None = None  # its cluster has; None where that isn't asked
    # what its machines are made from, where that is a resource of the stack
    template: Properties | None = None
    template_urn: str = ""
    cluster_urn: str = ""  # "" if its cluster isn't known
    release: str | None = ""  # of its node image, or the whole version that ends with it
    boot_script: str | None = ""  # what its nodes run at boot
    # types of the resources that its bought capacity comes from
    made_from: frozenset[str] = frozenset()
    startup_taints: tuple[Taint, ...] = ()  # of new nodes, until somebody removes them

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
    certain: bool  # False where its values are not all known


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
    cloud, or an image.
    """

    title: str
    urn: str
    fix: str


class Installer(Struct, frozen=True, kw_only=True):
    """A DaemonSet that installs the NVIDIA driver on nodes, and the version, "" if it sets none."""

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

    title: str  # 'Release "nvidia-device-plugin"'
    pod: Properties
    urn: str = ""
    place: Place = NOWHERE
    opt_out_label: str = ""  # a node label that, set to "false", keeps this plugin off


class InstalledDriver(Struct, frozen=True, kw_only=True):
    """A release of the DRA driver's chart, or the objects that the chart renders."""

    title: str
    urn: str
    namespace: str | None
    version: str | None  # "": whichever is the newest
    priority_class: str | None  # of its kubelet plugin; "": none
    other_critical_pods: int | None  # controllers and webhooks
    # in a fleet's words, those that are known
    settings: Mapping[str, Any] = {}
    values: Properties | None = None  # as they are given to the chart; None where files say more
    # labels of its pods that are known
    pod_labels: Mapping[str, str] = {}
    pod: Properties | None = None  # of its kubelet plugin, if the chart is rendered


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
    is_floor: bool = False  # the cloud may run a newer one
    cloud: str = ""


@equality(unhashed=("sources",))
class DeclaredResource(Struct, frozen=True, kw_only=True):
    """A cloud resource as declared. `sources` are the URNs of the resources that each property
    comes from.
    """

    urn: str
    type: str
    name: str
    props: Properties
    sources: Mapping[str, tuple[str, ...]] = {}

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
    expects_record: bool = False  # a stack of Pulumi has one; manifests have none
    complete: bool = False  # all there is; otherwise a single resource and what came before it
    pools: tuple[DeclaredPool, ...] = ()
    scaling_groups: tuple[DeclaredPool, ...] = ()  # nodes without a managed pool
    device_plugins: tuple[PluginWorkload, ...] = ()
    mig_managers: tuple[MigManager, ...] = ()
    operators: tuple[Operator, ...] = ()
    closed_efa_groups: tuple[ClosedGroup, ...] = ()
    second_drivers: tuple[SecondDriver, ...] = ()
    installers: tuple[Installer, ...] = ()
    charts: frozenset[str] = frozenset()  # names of the charts that releases install
    # each of them with its values as properties, and the type "chart:NAME"
    installed_charts: tuple[DeclaredResource, ...] = ()
    drivers: tuple[InstalledDriver, ...] = ()
    quotas: tuple[CriticalPodQuota, ...] = ()
    versions: tuple[KubernetesVersion, ...] = ()
    declared: tuple[DeclaredResource, ...] = ()
    # of Kubernetes, releases of charts and providers; of whole stacks only
    objects: tuple[DeclaredResource, ...] = ()
    today: date = date.min  # date.min if no day is given
    region: str = ""  # "" where it is not known
    wants_devices: bool = False  # something of it is there for claims
    has_gpu_operator: bool = False
    installs_charts: bool = False  # into a cluster that the stack makes
    nvidia: NvidiaInUse | None = None  # with a fleet, or what a stack declares
    # of which too little is known to say what their nodes offer
    doubtful_pools: tuple[str, ...] = ()
    # of all demand, on the pools of the record, the stack, a fleet or a snapshot
    judgement: Judgement | None = None
    # the same with pods that request no device
    whole_judgement: Callable[[], Judgement] | None = None
    # pods that request devices of drivers that the fleet does not run
    other_devices: tuple[OtherDevices, ...] = ()
    # pods of which it is not known whether they request devices
    not_described: tuple[Blocked, ...] = ()
    judged_urn: str = ""  # the resource that is told of, where a workload is no resource of its own
    # objects of the stack, or of files; their places name URNs or files
    manifests: Manifests | None = None
    features: Features | None = None  # set with `manifests`
    # what reading the manifests found, and planning with them
    diagnostics: tuple[Diagnostic, ...] = ()
    classes: Mapping[str, DeviceClass] = {}
    # that a project set, by rule
    thresholds: Mapping[str, float] = {}
    planned_classes: Mapping[str, DeviceClass] = {}
    stack: str = ""  # its name, "" if there is none
    # the plan behind `judgement`
    plan: Callable[[], Plan] | None = None
    unknowns: tuple[str, ...] = ()  # sentences about what kept the stack from being judged

    @property
    def node_pools(self) -> tuple[DeclaredPool, ...]:
        """The managed pools, and the nodes without one."""
        return (*self.pools, *self.scaling_groups)

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
        """Whether more of the stack follows. Findings that depend on its driver or pools are
        reported once at the end.
        """
        return self.expects_record and not self.complete
