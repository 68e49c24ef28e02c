"""The facts of a cloud that are data. Defaults apply to most clouds."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from dra_planner.catalog import cloud_titles
from dra_planner.catalog.kubernetes_support import supported
from dra_planner.clouds.protocol.identities import (
    AddonAccount,
    FederatedAccounts,
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
_LONGEST_KEY = 253 + 1 + 63  # Kubernetes label key: a domain, a slash, and a name


class CloudFacts(ABC):
    """The offers of one cloud, and the cloud's names for them."""

    name: ClassVar[str]  # name of the cloud in fleets, and name of its module

    # Where clusters run.
    region_setting: ClassVar[str]  # key in the stack's configuration for the region
    sdk_extra: ClassVar[str]  # extra of this package that installs the cloud's SDK
    # additional configuration that its provider needs
    account_settings: ClassVar[Mapping[str, str]] = {}
    region_pattern: ClassVar[str]
    region_example: ClassVar[str]
    zone_pattern: ClassVar[str]  # contains a group `region`
    zone_suffixes: ClassVar[tuple[str, ...]]  # a region followed by one of these suffixes is a zone
    zone_counts: ClassVar[range] = range(1, 7)  # maximum number of zones in a new network
    # keys of a fleet or pool (or key.value) that this cloud doesn't support, with the reason
    refused: ClassVar[Mapping[str, str]] = _NOTHING

    # The autoscalers that change node counts, and whether they scale up an empty pool for a claim.
    autoscalers: ClassVar[Mapping[str, bool]]
    # autoscalers that don't change a pool's planned count
    keep_counts: ClassVar[frozenset[str]] = frozenset()

    # Machines: their capacity types, the sizes of nodes, and their boot disks and images.
    # capacity type → its name in a message, after "the" or "use"
    capacities: ClassVar[Mapping[str, str]]
    # capacity types for which the catalog is complete
    judged_purchases: ClassVar[tuple[str, ...]] = ("on-demand", "spot")
    huge_pages_doubt: ClassVar[str] = ""  # facts about reserved machines that are unknown
    version_pattern: ClassVar[str] = r"1\.\d+(\.\d+)?"  # Kubernetes versions of a control plane
    # properties of its pools with the values that mean Spot
    spot: ClassVar[tuple[tuple[str, str], ...]] = ()
    reservation_pattern: ClassVar[str] = ".+"
    reservation_meaning: ClassVar[str] = "what was bought"
    pods_range: ClassVar[str] = ""
    """Default address range of the pods in a new cluster, or "" if pods have no separate range."""
    nodes_of_a_pool: ClassVar[range] = NODES
    pods_of_a_node: ClassVar[range] = range(1, 251)
    disk_gib: ClassVar[range] = range(50, 16_385)  # size of a node's boot disk
    longest_pool_name: ClassVar[int] = 40
    machine_change: ClassVar[str] = "replaces the pool and its pods"
    """Effect of another machine type of an existing pool."""
    pool_name_pattern: ClassVar[str] = ""  # if not every name of that length is valid
    # names of zones in pools, if they don't contain the region
    zone_names: ClassVar[tuple[str, ...]] = ()
    regions_without_zones: ClassVar[tuple[str, ...]] = ()
    # property of its pools with the value that marks pools for system pods
    system_mode: ClassVar[tuple[str, str]] = ("", "")
    system_machine: ClassVar[str]  # machine type of the system pool, by default
    gpu_images: ClassVar[Mapping[str, str]]  # image of GPU nodes by architecture
    system_images: ClassVar[Mapping[str, str]]
    # prefixes of the names of images that contain a driver
    images_with_device_plugin: ClassVar[tuple[str, ...]] = ()
    # images that GPU machines boot, and that don't contain a driver
    images_without_driver: ClassVar[tuple[str, ...]] = ()
    # list of GPUs, its property, and the value that disables the installation
    installer_off: ClassVar[tuple[str, str, str]] = ("", "", "")
    # prefixes of image names, each with parts of the names of installers that support these images
    installer_images: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = ()
    image_label: ClassVar[str] = ""  # label of nodes that contains their image and its release
    image_titles: ClassVar[Mapping[str, str]] = _NOTHING  # common names of images
    # images on which the GPU Operator can't install a driver
    images_without_operator_driver: ClassVar[tuple[str, ...]] = ()
    default_zones: ClassVar[int] = 0  # number of zones that regional pools without zones use
    # property of pools whose nodes load only signed modules
    secure_boot: ClassVar[str] = ""
    # properties of its pools, with the values that prevent the installation
    driver_left_out: ClassVar[tuple[tuple[str, str], ...]] = ()

    # properties of its pools, with the values that always enable the installation
    driver_kept: ClassVar[tuple[tuple[str, str], ...]] = ()

    # Admission. The ExtendedResourceToleration plugin is enabled.
    tolerates_extended_resources: ClassVar[bool] = False

    # Labels and taints.
    longest_key: ClassVar[int] = _LONGEST_KEY
    takes_empty_label_values: ClassVar[bool] = True
    # reserved label domains, in addition to Kubernetes' own
    reserved_domains: ClassVar[tuple[str, ...]] = ()
    # labels in these domains that pools can set nevertheless
    settable_labels: ClassVar[frozenset[str]] = frozenset()
    # labels that its API rejects when the pool is created, regardless of their domain
    labels_are_judged: ClassVar[bool] = False
    # names of taint effects in its API, if they differ from Kubernetes' names
    taint_effects: ClassVar[tuple[str, ...]] = ()
    # all taints that the cloud itself adds to some nodes
    possible_taints: ClassVar[tuple[Taint, ...]] = ()
    # labels and prefixes whose values are known only at run time, starting with the cloud's own
    unknown_labels: ClassVar[tuple[str, ...]]
    # label that contains the name of a node's pool in the cloud
    pool_label: ClassVar[str] = ""
    accelerator_label: ClassVar[str] = ""  # label that contains a node's GPUs, in the cloud's terms
    plugin: ClassVar[CloudPlugin] = CloudPlugin()
    # label that keeps the cloud's own device plugin off a node
    no_device_plugin_label: ClassVar[str] = ""
    # label with which the cloud's autoscaler can scale up an empty pool for a claim
    wakes_by_label: ClassVar[str] = ""
    # API group of the node classes of Karpenter's pools
    karpenter: ClassVar[str] = ""
    node_class: ClassVar[KarpenterNodeClass | None] = None  # description of this node class

    # Resources and commands that exist only in this cloud.
    addon_token: ClassVar[str] = ""  # resources that are cluster add-ons, including kube-proxy
    serverless_token: ClassVar[str] = ""  # profiles whose pods don't run on the cluster's nodes
    commands: ClassVar[tuple[str, ...]] = ()  # prefixes of commands that create clusters and nodes

    # Drivers.
    driver_root: ClassVar[str]  # folder of the NVIDIA driver on a node
    # False if a DaemonSet of this project installs the driver
    installs_driver: ClassVar[bool] = True
    # collector of GPU metrics, as named in the GpuMetrics component
    metrics_collector: ClassVar[str] = "annotations"
    supports_mig: ClassVar[bool] = True
    # taints that the NVIDIA DRA driver must tolerate
    unsupported_gates: ClassVar[tuple[str, ...]] = ()
    driver_source: ClassVar[str] = ""  # source for what the driver doesn't support here
    critical_pods_need_quota: ClassVar[bool] = False
    own_driver: ClassVar[str] = ""  # subject of `own_dra_driver` in messages
    # label with which nodes publish network devices, if its value is "true"
    network_label: ClassVar[str] = ""
    network_label_since: ClassVar[str] = ""  # first node version that publishes network devices
    # requirements of InfiniBand jobs, in addition to the machines
    infiniband_needs: ClassVar[str] = ""

    # Facts with a date: keys in the table `facts` on which plans for this cloud depend.
    dated_facts: ClassVar[tuple[str, ...]] = ()
    # parts of the names of sources that concern only this cloud
    fact_sources: ClassVar[tuple[str, ...]] = ()

    # Resources of Pulumi.
    # type token of the provider resource that sets the location of clusters
    provider: ClassVar[str] = ""
    provider_region: ClassVar[str] = "region"  # property of this resource with the location
    cluster: ClassVar[ClusterResource]
    pool: ClassVar[PoolResource]
    # RuntimeClasses that every cluster has
    runtime_classes: ClassVar[tuple[str, ...]] = ()
    # taints that the cluster's own pods tolerate
    tolerated_by_system: ClassVar[tuple[str, ...]] = ("CriticalAddonsOnly",)
    # the cloud adds GPU_TAINT to a new GPU pool if the cluster has other nodes
    taints_new_gpu_pools: ClassVar[bool] = False
    # settings that can block nodes from the API server and registries
    node_network: ClassVar[NodeNetwork] = NodeNetwork()
    pod_identity: ClassVar[PodIdentity | None] = None
    federated_accounts: ClassVar[FederatedAccounts | None] = None
    addon_accounts: ClassVar[tuple[AddonAccount, ...]] = ()
    # identities of clusters and nodes
    identity: ClassVar[IdentityResource]
    node_admission: ClassVar[NodeAdmission | None] = None
    volume_drivers: ClassVar[tuple[VolumeDriver, ...]] = ()
    # version of a new cluster; "" if it has none, None if unknown
    default_storage_class: ClassVar[str | None] = None
    disk_keys: ClassVar[DiskKeys | None] = None
    registry: ClassVar[RegistryResource | None] = None
    # definitions of policies that reject privileged pods or host paths: the resource that assigns
    # them, its property, and parts of the definitions' names
    pod_policies: ClassVar[tuple[str, str, tuple[str, ...]]] = ("", "", ())

    @property
    def title(self) -> str:
        """The common name of the cloud."""
        return cloud_titles()[self.name]

    @property
    def new_cluster(self) -> str:
        """Return the Kubernetes version of a new cluster if no date is given: the newest version of
        the support calendar, or the first one with resource.k8s.io/v1.
        """
        return f"1.{max((each.minor for each in supported(self.name)), default=MINIMUM_MINOR)}"
