"""The facts of a cloud that are data. Defaults apply to most clouds."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from dra_planner.catalog import cloud_titles
from dra_planner.catalog.kubernetes_support import supported
from dra_planner.clouds.protocol.identities import (
    IdentityResource,
    NodeAdmission,
    PodIdentity,
    RegistryResource,
)
from dra_planner.clouds.protocol.node_networks import NodeNetwork
from dra_planner.clouds.protocol.plugin_serving import CloudPlugin
from dra_planner.clouds.protocol.resources import ClusterResource, KarpenterNodeClass, PoolResource
from dra_planner.clouds.protocol.setting_faults import NODES
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver
from dra_planner.model import Taint
from dra_planner.releases import MINIMUM_MINOR

_NOTHING: Mapping[str, str] = MappingProxyType({})
_LONGEST_KEY = 253 + 1 + 63  # Kubernetes: a domain, a slash and a name


class CloudFacts(ABC):
    """What one cloud offers and calls by its own names."""

    name: ClassVar[str]  # what a fleet calls it, and the name of its module

    # Where clusters run.
    region_setting: ClassVar[str]  # the stack's configuration that names the region
    sdk_extra: ClassVar[str]  # extra of the package that brings the cloud's SDK
    # further configuration that its provider needs
    account_settings: ClassVar[tuple[str, ...]] = ()
    region_pattern: ClassVar[str]
    region_example: ClassVar[str]
    zone_pattern: ClassVar[str]  # with a group `region`
    zone_suffixes: ClassVar[tuple[str, ...]]  # a region and one of them make a zone
    zone_counts: ClassVar[range] = range(1, 7)  # how many zones a new network may span
    # keys of a fleet or pool, or key.value, not for this cloud: why
    refused: ClassVar[Mapping[str, str]] = _NOTHING

    # Who changes counts, and whether that wakes an empty pool for a claim.
    autoscalers: ClassVar[Mapping[str, bool]]
    # those of them that leave a pool's count as it was planned
    keep_counts: ClassVar[frozenset[str]] = frozenset()

    # Machines: where they come from, how large a node may be, what it boots.
    capacities: ClassVar[Mapping[str, str]]  # kind → what follows "the"/"use" in a message
    # kinds of which the catalogue knows all
    judged_purchases: ClassVar[tuple[str, ...]] = ("on-demand", "spot")
    huge_pages_doubt: ClassVar[str] = ""  # what is not known of those that it reserves
    version_pattern: ClassVar[str] = r"1\.\d+(\.\d+)?"  # of a control plane
    # properties of its pools and the values that mean Spot
    spot: ClassVar[tuple[tuple[str, str], ...]] = ()
    reservation_pattern: ClassVar[str] = ".+"
    reservation_meaning: ClassVar[str] = "what was bought"
    pods_range: ClassVar[str] = ""
    """Default address range of the pods in a new cluster, or "" if pods have no separate range."""
    nodes_of_a_pool: ClassVar[range] = NODES
    pods_of_a_node: ClassVar[range] = range(1, 251)
    disk_gib: ClassVar[range] = range(50, 16_385)  # of a node's boot disk
    longest_pool_name: ClassVar[int] = 40
    machine_change: ClassVar[str] = "replaces the pool and its pods"
    """Effect of another machine type of an existing pool."""
    pool_name_pattern: ClassVar[str] = ""  # where the cloud takes less than any name of that length
    zone_names: ClassVar[tuple[str, ...]] = ()  # as its pools name zones, where not by the region
    regions_without_zones: ClassVar[tuple[str, ...]] = ()
    # property of its pools and the value of one for system pods
    system_mode: ClassVar[tuple[str, str]] = ("", "")
    system_machine: ClassVar[str]  # for nodes without GPUs, where nobody says
    gpu_images: ClassVar[Mapping[str, str]]  # by architecture
    system_images: ClassVar[Mapping[str, str]]
    # how names of images begin that bring one
    images_with_device_plugin: ClassVar[tuple[str, ...]] = ()
    # that GPU machines boot, and find no driver in
    images_without_driver: ClassVar[tuple[str, ...]] = ()
    # list of GPUs, property, value that installs nothing
    installer_off: ClassVar[tuple[str, str, str]] = ("", "", "")
    # how names of images begin, each with parts of the names of installers that work there
    installer_images: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = ()
    image_label: ClassVar[str] = ""  # of nodes, names their image and its release
    image_titles: ClassVar[Mapping[str, str]] = _NOTHING  # what people call images
    # on which the GPU Operator can't install a driver
    images_without_operator_driver: ClassVar[tuple[str, ...]] = ()
    default_zones: ClassVar[int] = 0  # of regional pools without zones
    # a property of pools with which nodes load only signed modules
    secure_boot: ClassVar[str] = ""
    # properties of its pools and values that leave it out
    driver_left_out: ClassVar[tuple[tuple[str, str], ...]] = ()

    # Admission.
    # the plugin ExtendedResourceToleration is on
    tolerates_extended_resources: ClassVar[bool] = False

    # Labels and taints.
    longest_key: ClassVar[int] = _LONGEST_KEY
    takes_empty_label_values: ClassVar[bool] = True
    reserved_domains: ClassVar[tuple[str, ...]] = ()  # of labels, beside Kubernetes' own
    # by its API when the pool is made, whatever their domain
    labels_are_judged: ClassVar[bool] = False
    # as its API writes them, where not as Kubernetes does
    taint_effects: ClassVar[tuple[str, ...]] = ()
    # all that the cloud adds to some nodes by itself
    possible_taints: ClassVar[tuple[Taint, ...]] = ()
    # labels and prefixes with values known at run time only, first its own
    unknown_labels: ClassVar[tuple[str, ...]]
    # says of which pool a node is, by the name that the cloud has for it
    pool_label: ClassVar[str] = ""
    accelerator_label: ClassVar[str] = ""  # says which GPUs a node has, in the cloud's words
    plugin: ClassVar[CloudPlugin] = CloudPlugin()
    no_device_plugin_label: ClassVar[str] = ""  # keeps the cloud's own device plugin off a node
    wakes_by_label: ClassVar[str] = ""  # lets the cloud's autoscaler wake an empty pool for a claim
    # API group of what Karpenter's pools take their nodes' settings from
    karpenter: ClassVar[str] = ""
    node_class: ClassVar[KarpenterNodeClass | None] = None  # what that is

    # Resources and commands that only this cloud has.
    addon_token: ClassVar[str] = ""  # add-ons of a cluster, kube-proxy among them
    serverless_token: ClassVar[str] = ""  # pods that run on no node of the cluster
    commands: ClassVar[tuple[str, ...]] = ()  # how commands begin that make clusters and nodes

    # Drivers.
    driver_root: ClassVar[str]  # where the NVIDIA driver lies on a node
    installs_driver: ClassVar[bool] = True  # False: a DaemonSet of this project does
    # who collects metrics of GPUs, as component GpuMetrics calls it
    metrics_collector: ClassVar[str] = "annotations"
    supports_mig: ClassVar[bool] = True
    unsupported_gates: ClassVar[tuple[str, ...]] = ()  # of the NVIDIA DRA driver
    driver_source: ClassVar[str] = ""  # who says so
    critical_pods_need_quota: ClassVar[bool] = False
    own_driver: ClassVar[str] = ""  # what `own_dra_driver` is about, in messages
    network_label: ClassVar[str] = ""  # with the value "true", nodes publish network devices
    network_label_since: ClassVar[str] = ""  # node version that publishes them
    infiniband_needs: ClassVar[str] = ""  # what jobs over InfiniBand need beside the machines

    # Facts with a date.
    # keys of the table `facts` that plans for it depend on
    dated_facts: ClassVar[tuple[str, ...]] = ()
    # parts of the names of sources that are about this cloud alone
    fact_sources: ClassVar[tuple[str, ...]] = ()

    # Resources of Pulumi.
    provider: ClassVar[str] = ""  # type token of the one that says where clusters are made
    provider_region: ClassVar[str] = "region"  # its setting that does
    cluster: ClassVar[ClusterResource]
    pool: ClassVar[PoolResource]
    # RuntimeClasses that clusters have from the start
    runtime_classes: ClassVar[tuple[str, ...]] = ()
    # taints that the cluster's own pods tolerate
    tolerated_by_system: ClassVar[tuple[str, ...]] = ("CriticalAddonsOnly",)
    # adds GPU_TAINT to a new GPU pool if the cluster has other nodes
    taints_new_gpu_pools: ClassVar[bool] = False
    # what can cut nodes off from the API server and registries
    node_network: ClassVar[NodeNetwork] = NodeNetwork()
    pod_identity: ClassVar[PodIdentity | None] = None
    # what clusters and nodes act as
    identity: ClassVar[IdentityResource]
    node_admission: ClassVar[NodeAdmission | None] = None
    volume_drivers: ClassVar[tuple[VolumeDriver, ...]] = ()
    # of a new cluster; "": it has none, None: not known
    default_storage_class: ClassVar[str | None] = None
    disk_keys: ClassVar[DiskKeys | None] = None
    registry: ClassVar[RegistryResource | None] = None
    # definitions of policies that reject privileged pods or host paths, by the resource that
    # assigns them, its property, and the parts of the names of the definitions
    pod_policies: ClassVar[tuple[str, str, tuple[str, ...]]] = ("", "", ())

    @property
    def title(self) -> str:
        """The common name of the cloud."""
        return cloud_titles()[self.name]

    @property
    def new_cluster(self) -> str:
        """Return the Kubernetes of a new cluster if no day is given: the newest version of the
        support calendar, or the first one with resource.k8s.io/v1.
        """
        return f"1.{max((each.minor for each in supported(self.name)), default=MINIMUM_MINOR)}"
