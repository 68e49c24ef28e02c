"""Descriptions of a cloud's Pulumi resources for pools and clusters: type tokens and property
paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.maintenance import MaintenanceLimits
from dra_planner.model import Taint


class CountLimits(Struct, frozen=True, kw_only=True):
    """The properties with the minimum and maximum number of nodes.

    `per_zone` is set if the counts are per zone.
    """

    minimum: str
    maximum: str
    per_zone: bool = False


class SpreadGroup(Struct, frozen=True, kw_only=True):
    """A placement group that a template's property names, and its maximum number of nodes in a
    zone.
    """

    token: str
    used_by: str
    most_per_zone: int


class MachineTemplate(Struct, frozen=True, kw_only=True):
    """A resource that contains the machine type if the pool doesn't: the property that refers to
    it, its type, and the path of the machine type.

    `disks` is its list of disks, each with the name `disk_name`. `root` contains prefixes of image
    names, each with the name of the disk for images and containers. `instead` are properties that a
    pool with a template can't have, each with the template's equivalent properties. `not_in_pools`
    are properties of the template that a pool rejects, each with the pool's equivalent property.
    `image` is its property with an image, and
    `custom_image` is the value that the pool's image must have in that case. With `is_merged`, the
    cloud adds its own boot script, so the template's boot script must be in MIME multipart format
    unless the image is custom. A boot script for a custom image that contains the first word of
    `node_config` must also contain the other words.
    """

    property: str
    token: str
    machine: str
    boot_script: str = ""  # encoded in base64
    # words that identify boot scripts with which nodes join a cluster themselves
    joins: tuple[str, ...] = ()
    node_config: tuple[str, ...] = ()
    image: str = ""
    custom_image: str = ""
    instead: tuple[tuple[str, str], ...] = ()
    not_in_pools: tuple[tuple[str, str], ...] = ()
    is_merged: bool = False
    disks: str = ""
    disk_name: str = ""
    root: tuple[tuple[str, str], ...] = ()
    spread: SpreadGroup | None = None


class AttachedGpus(Struct, frozen=True, kw_only=True):
    """A list of GPUs attached to the machine, written in a fleet as `machine+type:count`."""

    path: str
    type: str = "type"
    count: str = "count"


class SurgeSetting(Struct, frozen=True, kw_only=True):
    """Whether an update starts new nodes before it removes old nodes.

    `setting` is the property, and `default` is its default value. `starts_none` are the values with
    which no new node starts first. `setting` applies only if the property `strategy` has its value,
    which is also its default.
    """

    setting: str
    default: str
    starts_none: tuple[str, ...]
    fix: str
    strategy: tuple[str, str] = ("", "")


class BoughtCapacity(Struct, frozen=True, kw_only=True):
    """The properties that mark a pool with purchased machines, and the settings that prevent the
    pool from using them.

    `marks` and `template_marks` are properties of the pool and of its launch template, each with
    the value that means bought capacity ("" for any value). `tokens` are the types of resources
    that are bought capacity. `names` and `template_name` are the properties that identify the
    purchase, in the pool and in its template. `placement` and `template_placement` list the
    properties that place nodes elsewhere, each with the name of the resource to which it refers.
    `own_placement` is the property with a reservation's own placement group. `machine` is a
    reservation's type, and its property with a machine type. `size` is the property with a
    reservation's number of machines. Alternatively, `members` are the properties of the machine
    type's resource with the group that pools name, and with the number. `by_name` is the flag with
    which pools select a reservation by name.
    """

    marks: tuple[tuple[str, str], ...]
    template_marks: tuple[tuple[str, str], ...] = ()
    tokens: tuple[str, ...] = ()
    zone: str = ""  # property of these resources with a zone or a list of zones
    machine: tuple[str, str] = ("", "")
    size: str = ""
    members: tuple[str, str] = ("", "")
    by_name: str = ""
    names: str = ""
    template_name: str = ""
    placement: tuple[str, ...] = ()
    template_placement: tuple[str, ...] = ()
    own_placement: str = ""
    placement_kind: str = "placement group"
    surge: SurgeSetting


class KarpenterNodeClass(Struct, frozen=True, kw_only=True):
    """The node class of Karpenter's pools: its kind, and the properties with the images that nodes
    boot.

    `images` is a list of terms with an `alias` ("al2023@v20260917") or a `name`. `image_names`
    matches the start of the cloud's own names, which contain a Kubernetes version. `families` are
    the names of image families, each with the start of the names of its images. `reservations`
    selects bought machines, which pools use only if they require the capacity type `reserved`.
    `reservation` is the type of a reservation, its property with the machine type, and the property
    and value that restrict the reservation to nodes that select it. `bought` are all kinds of
    reservations. `subnets` is a list of terms with tags of subnets, or with their IDs, and the type
    of a subnet. `tag` is the type of a resource that tags another resource.
    """

    kind: str
    subnets: tuple[str, str]
    tag: str
    images: str
    image_names: str
    family: str
    families: tuple[tuple[str, str], ...]
    boot_script: str
    reservations: str
    reserved: str
    reservation: str
    reservation_machine: str
    targeted: tuple[str, str]
    bought: tuple[str, ...]


class EphemeralDisk(Struct, frozen=True, kw_only=True):
    """An operating system on a local disk of the machine.

    The fields are the property and value that enable it, the property with its size and the default
    in GiB, the alternative value, the families whose machine types have only their temporary disk
    for it, and a pattern of the machine types without a local disk. `other_settings` are other
    properties that need a local disk, each with its value and the alternative value.
    """

    setting: tuple[str, str]
    otherwise: str
    size: str
    default_gib: int
    only_temporary: tuple[str, ...]
    without: str
    other_settings: tuple[tuple[str, str, str], ...] = ()


class FastNetwork(Struct, frozen=True, kw_only=True):
    """The properties with which a pool attaches the machine type's multi-node network to its nodes.

    `of_machine` describes the network for which a machine type is typically bought, and returns ""
    if it has none. `settings` are properties of the pool, any of which attaches the network.
    `interfaces` is a list in the template, with a property and the prefix of the values that attach
    the network. `interface` is the name of one interface, and `most` is the number that a machine
    type supports (None if unknown). `requested_as` is a regular expression for the resources,
    classes, and drivers in pods for which Karpenter attaches interfaces. `charts` are the charts
    that install drivers for it. In `fix`, {} is the name of the template: the first of `templates`,
    or the second if Karpenter starts the nodes.
    """

    of_machine: Callable[[Machine], str]
    settings: tuple[str, ...] = ()
    interfaces: str = ""
    kind: tuple[str, str] = ("", "")
    interface: str = ""
    most: Callable[[Machine], int | None] = lambda machine: None
    requested_as: str = ""
    charts: tuple[str, ...] = ()
    fix: str
    templates: tuple[str, str] = ("", "")
    networks: str = ""  # property of a pool with one network for each interface of the machine type


class PoolResource(Struct, frozen=True, kw_only=True):
    """A resource that is a pool of nodes.

    Paths are dotted, and "" means that the property doesn't exist. `machine` is a text or a list of
    texts, and `machine_default` is the cloud's default. `labels` is a mapping. `taints` is a list
    of mappings with key, value, and effect, or of texts `key=value:effect`. `desired` lists the
    properties that can contain the node count, and the first one that is set counts.
    `desired_per_zone` is set if the count applies to each zone. `limits` lists the properties that
    can contain the limits, and the first one that exists counts. With `scaling`, a pool has a fixed
    count if the block is missing or contains false. `zones` is a list of zone names. `cluster` is
    the property that names the cluster, whose zones apply if the pool doesn't set any.
    """

    token: str
    kind: str  # name in messages, for example "node group"
    machine: str
    machine_default: str = ""
    template: MachineTemplate | None = None
    attached: AttachedGpus | None = None
    labels: str
    taints: str
    image: str = ""
    image_default: str = ""
    version: str = ""
    max_pods: str = ""  # maximum number of pods on a node
    release: str = ""  # version of the node image, which starts with the Kubernetes version
    desired: tuple[str, ...]
    desired_per_zone: bool = False
    limits: tuple[CountLimits, ...]
    scaling: str = ""
    zones: str = ""
    # property with zone numbers, if the names of zones don't contain the region
    zone_list: str = ""
    location: str = ""
    cluster: str = ""
    disk_type: str = ""
    local_disks: tuple[str, ...] = ()  # properties with the number of optional local disks
    ephemeral: EphemeralDisk | None = None
    spot_limit: str = ""  # maximum price of a Spot node in USD per hour; -1 means no limit
    bought: BoughtCapacity | None = None
    network_profile: str = ""  # property that is set if nodes publish network devices
    fast_network: FastNetwork | None = None
    # property that names a policy which keeps nodes in one NVLink domain
    nvlink_placement: str = ""
    # properties with which the pool's pods use a different range than the cluster's pods
    own_pod_ranges: tuple[str, ...] = ()
    # properties, each with a value for which the cloud adds a taint
    tainting: tuple[tuple[str, str, Taint], ...] = ()
    # newer properties, each with the property that it replaces
    aliases: tuple[tuple[str, str], ...] = ()
    # a property with the value for which the pool doesn't have nodes
    stopped: tuple[str, str] = ("", "")
    fixed_count: str = ""  # a count that each update of the pool resets
    # a list, and a property and value in it with which each container gets at most one unit
    one_unit: tuple[str, str, str] = ("", "", "")
    # a list, or "" for the pool itself, and properties in it with which containers share GPUs
    shared_gpus: tuple[str, tuple[str, ...]] = ("", ())
    startup_taints: str = ""  # taints of new nodes, until other software removes them
    # properties of an upgrade whose sum the cloud limits
    upgrade_sum: tuple[tuple[str, ...], int] = ((), 0)


class ClusterAddons(Struct, frozen=True, kw_only=True):
    """Add-ons that a cluster needs but that aren't built in.

    `by_default` is the property that disables the cloud's default add-ons, and with `managed` the
    cloud runs all of them itself. `token` and `name` are the type of an add-on resource and its
    property with the name. `needed` contains the consequence of each missing add-on, and
    `replacements` contains parts of the names of its replacements. `network_policies` is the text
    in an add-on's `settings` with which it enforces NetworkPolicies.
    """

    by_default: str
    managed: str
    token: str
    name: str
    needed: Mapping[str, str]
    replacements: Mapping[str, tuple[str, ...]]
    settings: str
    network_policies: str


class NamedPodRange(Struct, frozen=True, kw_only=True):
    """A range of addresses for pods that a cluster or a pool names, in one of its subnets.

    `of_cluster` and `of_pool` are the properties with the name. `ranges` is the subnet's list of
    ranges, each with its `name` and `addresses`. `more` are further ranges of a cluster.
    """

    of_cluster: str
    of_pool: str
    ranges: str
    name: str
    addresses: str
    more: str


class ClusterResource(Struct, frozen=True, kw_only=True):
    """A resource that is a cluster.

    `region` can contain a zone, and is "" if the provider sets it. `own_network` is a property with
    the value that disables the cloud's pod network, and parts of the names of charts that install
    one. `pools` is a list of node pools inside the cluster, each with the properties of a separate
    pool. `version_is_floor` is set if the cloud can run a newer Kubernetes version than the
    requested one. `pod_range` is the range of addresses that nodes share for their pods. `subnets`
    is the list of subnets of the control plane, which must be in at least `least_zones` zones.

    `dataplane` is a property, and the value with which network devices of the pools carry traffic.
    `dataplane_default` is the value that the cloud uses if the property isn't set. `managed` is the
    flag with which the cloud chooses the value itself. `network_policies` are properties, each with
    a value that enforces NetworkPolicies. It's () if something else determines that.

    `image_channel` is the property that determines who changes node images. `new_images` are the
    values with which the cloud installs new images automatically, starting with the default.
    `old_images` are the values with which images don't change. `image_fix` is the advice for
    changing the property.

    `own_nodes` are properties, each with a value with which the cloud adds nodes that aren't
    declared. `first_pool` is the flag that removes a pool that isn't declared. This pool has the
    cluster's `first_pool_settings`. `maintenance` describes the cloud's limits for maintenance
    windows.
    """

    token: str
    version: str
    region: str
    zones: str = ""
    subnets: str = ""
    least_zones: int = 1
    pools: str = ""
    name: str = "name"
    version_is_floor: bool = False
    dataplane: tuple[str, str] = ("", "")
    dataplane_default: str = ""
    addons: ClusterAddons | None = None
    managed: str = ""
    image_channel: str = ""
    new_images: tuple[str, ...] = ()
    old_images: tuple[str, ...] = ()
    image_fix: str = ""
    network_policies: tuple[tuple[str, str], ...] = ()
    pod_range: str = ""
    named_pod_range: NamedPodRange | None = None
    max_pods: str = ""  # maximum number of pods on a node of pools that don't set one
    own_network: tuple[str, str, tuple[str, ...]] = ("", "", ())
    maintenance: MaintenanceLimits | None = None
    first_pool: str = ""
    first_pool_settings: tuple[str, ...] = ()
    own_nodes: tuple[tuple[str, str], ...] = ()
    # number of pools inside the cluster that the cloud requires, and the consequence of more pools
    inner_pools: tuple[int, str] = (0, "")
    # property with the value that buys extended support in advance
    extended_support: tuple[str, str] = ("", "")
    # property with the limits of the cluster's autoscaler, and in it the resource and the maximum
    # of each limit
    autoscaler_limits: tuple[str, str, str] = ("", "", "")
