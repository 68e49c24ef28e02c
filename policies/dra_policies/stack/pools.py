"""Node groups and node pools → declared pools, with totals over zones, using each cloud's
description of its resources.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import POOL, Cloud, NodeOrigin, PoolResource, cloud, names
from dra_planner.errors import PlannerError
from dra_planner.model import Taint
from dra_planner.model.nodes import TaintEffect
from dra_policies.stack.forms.property_aliases import with_aliases
from dra_policies.stack.resource import Resource, source_of
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping
from dra_policies.view.pool_machines import has_value
from dra_policies.view.stack_view import DeclaredPool


@cache
def _clouds_by_token() -> dict[str, Cloud]:
    clouds = [cloud(name) for name in names()]
    return {
        token: each
        for each in clouds
        for token in (each.pool.token, each.cluster.token, each.provider)
    }


def is_pool(resource: Resource) -> bool:
    """Return whether a resource is a node pool."""
    return cloud_of_pool(resource) is not None


def cloud_of_pool(resource: Resource) -> Cloud | None:
    """Return the cloud of a node pool, or None for other resources."""
    of_cloud = _clouds_by_token().get(resource.type)
    return of_cloud if of_cloud is not None and of_cloud.pool.token == resource.type else None


def cloud_of_cluster(resource: Resource) -> Cloud | None:
    """Return the cloud of a cluster, or None for other resources."""
    return _clouds_by_token()[resource.type] if is_cluster_token(resource.type) else None


def is_cluster_token(token: str) -> bool:
    """Return whether a resource type is a cluster."""
    of_cloud = _clouds_by_token().get(token)
    return of_cloud is not None and of_cloud.cluster.token == token


def cloud_of_provider(resource: Resource) -> Cloud | None:
    """Return the cloud of a provider, or None for other resources."""
    of_cloud = _clouds_by_token().get(resource.type)
    return of_cloud if of_cloud is not None and of_cloud.provider == resource.type else None


def declared_pools(resource: Resource, others: Sequence[Resource] = ()) -> Iterator[DeclaredPool]:
    """Yield the pools that a resource declares: itself, or the pools inside a cluster.

    `others` are the resources that its properties can refer to: launch template, cluster.
    """
    if is_pool(resource):
        yield _declared_pool(resource, others)
    of_cloud = cloud_of_cluster(resource)
    if of_cloud is None:
        return
    inside = of_cloud.cluster.pools
    for index, item in enumerate(resource.props.items(inside) or () if inside else ()):
        name = item.text("name") or str(index)
        values = as_mapping(item.values) or {}
        yield _pool_inside(resource, of_cloud, name, values, (inside,), others)
    settings = of_cloud.cluster.first_pool_settings
    values = {key: value for key in settings if (value := resource.props.at(key)) is not None}
    if values and _has_first_pool(resource, of_cloud):
        pool = _pool_inside(resource, of_cloud, "default-pool", values, settings, others)
        if pool.has_gpus:
            yield pool


def _has_first_pool(cluster: Resource, of_cloud: Cloud) -> bool:
    """Return True if a cluster keeps its initial pool."""
    kept = cluster.props.flag(of_cloud.cluster.first_pool, False) is False
    managed = cluster.props.flag(of_cloud.cluster.managed, False) is not False
    return kept and not managed and cluster.props.has(of_cloud.cluster.pools) is False


def _pool_inside(
    cluster: Resource,
    of_cloud: Cloud,
    name: str,
    values: Mapping[str, Any],
    keys: tuple[str, ...],
    others: Sequence[Resource],
) -> DeclaredPool:
    """Return a pool that a cluster declares in the properties `keys`."""
    paths = of_cloud.pool
    place = {paths.location: cluster.props.at(of_cloud.cluster.region)} if paths.location else {}
    zones = {paths.zones: cluster.props.at(of_cloud.cluster.zones)} if paths.zones else {}
    known = {**place, **zones, **values}
    sources = tuple(urn for key, urns in cluster.sources.items() if key in keys for urn in urns)
    pool = Resource(
        urn=cluster.urn,
        type=paths.token,
        name=name,
        props=Properties(known),
        # the engine doesn't report which value comes from which resource
        sources=dict.fromkeys(known, sources),
    )
    pool = with_aliases(pool)
    title = f"{pool.title(paths.kind)} of {cluster.title('cluster')}"
    return replace(_declared_pool(pool, others), title=title)


def _declared_pool(resource: Resource, others: Sequence[Resource]) -> DeclaredPool:
    of_cloud = _clouds_by_token()[resource.type]
    props, paths = resource.props, of_cloud.pool
    machine = _machine(resource, of_cloud, others)
    template = _template(resource, paths, others)
    cluster = _cluster(resource, of_cloud, others)
    labels = props.mapping(paths.labels)
    counts = _counts(resource, paths, zones_of_pool(resource, of_cloud, others))
    return DeclaredPool(
        urn=resource.urn,
        title=resource.title(paths.kind),
        cloud=of_cloud.name,
        name=_pool_name(labels),
        machine=machine,
        count_min=counts.minimum,
        count_desired=counts.desired,
        count_max=counts.maximum,
        labels=labels,
        taints=_all_taints(resource, of_cloud, machine),
        has_dataplane_v2=_has_dataplane_v2(cluster, of_cloud),
        has_gpus=has_gpus(of_cloud.name, machine),
        image=props.text(paths.image, paths.image_default) if paths.image else "",
        leaves_desired=not counts.fixed and any(resource.ignores(path) for path in paths.desired),
        is_fixed=counts.fixed,
        own=props,
        template=None if template is None else template.props,
        template_urn="" if template is None else template.urn,
        cluster_urn="" if cluster is None else cluster.urn,
        release=props.text(paths.release) if paths.release else "",
        boot_script=_boot_script(resource, paths, template),
        made_from=_made_from(paths, resource, template, others),
        startup_taints=taints_of(props, paths.startup_taints) or () if paths.startup_taints else (),
    )


def _boot_script(resource: Resource, paths: PoolResource, template: Resource | None) -> str | None:
    """Return the template's boot script, "" without one, or None if it isn't known."""
    if paths.template is None or not paths.template.boot_script:
        return ""
    if template is None:
        return "" if resource.props.has(paths.template.property) is False else None
    return boot_script_of(template, paths.template.boot_script)


def boot_script_of(template: Resource, path: str) -> str | None:
    """Return the boot script in a template, "" without one, or None if it isn't known."""
    text = template.props.text(path)
    try:
        return None if text is None else b64decode(text, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return None


def _made_from(
    paths: PoolResource, resource: Resource, template: Resource | None, others: Sequence[Resource]
) -> frozenset[str]:
    """Return the types of purchased capacity whose outputs the pool or its template uses. These
    properties aren't null.
    """
    bought = paths.bought
    if bought is None:
        return frozenset()
    marks = ((resource, bought.marks), (template, bought.template_marks))
    urns = {
        urn
        for each, listed in marks
        for path, _ in listed
        for key, sources in (each.sources.items() if each is not None else ())
        if key.partition(".")[0].partition("[")[0] == path.partition(".")[0]
        for urn in sources
    }
    return frozenset(
        other.type for other in others if other.urn in urns and other.type in bought.tokens
    )


def _cluster(resource: Resource, of_cloud: Cloud, others: Sequence[Resource]) -> Resource | None:
    """Return the pool's cluster: the resource that declares the pool, the source of its property,
    or the only cluster.
    """
    clusters = [each for each in others if each.type == of_cloud.cluster.token]
    inside = [each for each in clusters if each.urn == resource.urn]
    found = (
        inside[0]
        if inside
        else source_of(resource, of_cloud.pool.cluster, of_cloud.cluster.token, clusters)
    )
    return found or (clusters[0] if len(clusters) == 1 else None)


def _all_taints(
    resource: Resource, of_cloud: Cloud, machine: str | None
) -> tuple[Taint, ...] | None:
    """Return the pool's taints and the taints that the cloud adds, for example to Spot nodes."""
    declared = taints_of(resource.props, of_cloud.pool.taints)
    if declared is None:
        return None
    found = _known_machine(of_cloud, machine)
    nodes = NodeOrigin(name="", machine=found, capacity=_capacity(resource.props, of_cloud))
    added = [
        taint
        for path, value, taint in of_cloud.pool.tainting
        if has_value(resource.props.at(path), value)
    ]
    return tuple(dict.fromkeys((*declared, *of_cloud.added_taints(nodes), *added)))


def _capacity(props: Properties, of_cloud: Cloud) -> str:
    if props.flag("queuedProvisioning.enabled", False) is True:
        return "queued"
    is_spot = any(has_value(props.at(path), value) for path, value in of_cloud.spot)
    return "spot" if is_spot else "on-demand"


def _known_machine(of_cloud: Cloud, machine: str | None) -> Machine | None:
    try:
        return catalog.machine(of_cloud.name, machine) if machine else None
    except PlannerError:
        return None


def _has_dataplane_v2(cluster: Resource | None, of_cloud: Cloud) -> bool | None:
    """Return whether a cluster has Dataplane V2, or None if its cloud doesn't offer it or it isn't
    known.
    """
    setting, wanted = of_cloud.cluster.dataplane
    if not setting or cluster is None:
        return None
    found = cluster.props.text(setting, of_cloud.cluster.dataplane_default)
    managed = cluster.props.flag(of_cloud.cluster.managed, False)
    return None if found is None or managed is not False else found == wanted


def _machine(resource: Resource, of_cloud: Cloud, others: Sequence[Resource]) -> str | None:
    """Return the machine type in the form that a fleet uses, or None if it's unknown or there are
    several.
    """
    paths = of_cloud.pool
    types = _texts(resource.props, paths.machine)
    if types is None or len(types) > 1:
        return None
    name = (
        types[0]
        if types
        else paths.machine_default or _machine_of_template(resource, paths, others)
    )
    if not name or paths.attached is None or has_gpus(of_cloud.name, name):
        return name
    attached = resource.props.items(paths.attached.path)
    if not attached:
        return name if attached is not None else None
    kind, count = attached[0].text(paths.attached.type), attached[0].count(paths.attached.count, 1)
    if not kind or count is None:
        return None
    return f"{name}+{kind}" + (f":{count}" if count > 1 else "")


def _texts(props: Properties, path: str) -> tuple[str | None, ...] | None:
    """Return the texts of a property with one text or a list, or None if it isn't known."""
    text = props.text(path)
    if text is None:
        return props.texts(path)
    return (text,) if text else ()


def _machine_of_template(
    resource: Resource, paths: PoolResource, others: Sequence[Resource]
) -> str | None:
    template = _template(resource, paths, others)
    if template is None or paths.template is None:
        return None
    return template.props.text(paths.template.machine) or None


def template_of(resource: Resource, others: Sequence[Resource]) -> Resource | None:
    """Return the launch template of a pool, or None if there is none or it isn't known."""
    of_cloud = cloud_of_pool(resource)
    return None if of_cloud is None else _template(resource, of_cloud.pool, others)


def _template(
    resource: Resource, paths: PoolResource, others: Sequence[Resource]
) -> Resource | None:
    """Return the launch template of a pool, or None if there is none or it isn't known."""
    if paths.template is None:
        return None
    template = source_of(resource, paths.template.property, paths.template.token, others)
    return template or _template_by_id(
        resource, paths.template.property, paths.template.token, others
    )


def _template_by_id(
    resource: Resource, path: str, token: str, others: Sequence[Resource]
) -> Resource | None:
    """Find the template by the pool's reference to it, if both are known."""
    for key in ("id", "name"):
        wanted = resource.props.text(f"{path}.{key}")
        if wanted:
            for other in others:
                if other.type == token and other.props.text(key) == wanted:
                    return other
    return None


class _Counts(Struct, frozen=True):
    """Node counts in all zones, None if not known. `fixed`: nothing changes the count."""

    fixed: bool = False
    minimum: int | None = None
    desired: int | None = None
    maximum: int | None = None


def _counts(resource: Resource, paths: PoolResource, zones: int | None) -> _Counts:
    props = resource.props
    if paths.stopped[0] and props.text(paths.stopped[0]) == paths.stopped[1]:
        return _Counts(True, 0, 0, 0)
    scaled = (
        props.has(paths.scaling) and props.at(paths.scaling) is not False if paths.scaling else True
    )
    if scaled is None:
        return _Counts()
    per_zone = zones if paths.desired_per_zone else 1
    desired = _times(_first(props, paths.desired, 0 if scaled else 1), per_zone)
    if not scaled:
        return _Counts(True, desired, desired, desired)
    for limits in paths.limits:
        maximum = props.count(limits.maximum, -1)
        if maximum is None or maximum >= 0 or limits is paths.limits[-1]:
            each = zones if limits.per_zone else 1
            minimum = props.count(limits.minimum, 0)
            return _Counts(False, _times(minimum, each), desired, _times(_at_least(maximum), each))
    return _Counts()


def _first(props: Properties, paths: Iterable[str], default: int) -> int | None:
    """Return the first count that is set, or None if it isn't known."""
    for path in paths:
        count = props.count(path, -1)
        if count is None or count >= 0:
            return count
    return default


def _at_least(count: int | None) -> int | None:
    return None if count is None else max(count, 0)


def _times(count: int | None, zones: int | None) -> int | None:
    if count == 0:
        return 0
    return None if count is None or zones is None else count * zones


def zones_of_pool(resource: Resource, of_cloud: Cloud, others: Sequence[Resource]) -> int | None:
    """Return the number of zones of the pool's nodes: its own list, otherwise its cluster's. None
    if not known.
    """
    paths = of_cloud.pool
    if not paths.zones:
        return None
    cluster = (
        source_of(resource, paths.cluster, of_cloud.cluster.token, others)
        if paths.cluster
        else None
    )
    places = [(resource.props, paths.zones, paths.location)]
    if cluster is not None:
        places.append((cluster.props, of_cloud.cluster.zones, of_cloud.cluster.region))
    for props, zones, location_path in places:
        listed = props.texts(zones)
        if listed is None:
            return None
        location = props.text(location_path) or ""
        zonal = bool(of_cloud.region_of(location))
        if listed:
            here = {location} if zonal and props is not resource.props else set[str | None]()
            return len({*listed, *here})
        if zonal:
            return 1
    return None


def has_gpus(cloud: str, machine: str | None) -> bool | None:
    """Return whether a machine type has NVIDIA GPUs. For an unknown machine type, the answer
    depends on its family.
    """
    if not machine:
        return None
    try:
        accelerator = catalog.machine(cloud, machine).accelerator
    except PlannerError:
        family = re.split(r"[.-]", machine)[0]
        with_gpus = {each.family for each in catalog.machines(cloud)}
        plain = {each.family for each in catalog.machines_without_accelerators(cloud)}
        return False if family in plain - with_gpus else None
    return accelerator is not None and accelerator.gpu is not None


def _pool_name(labels: dict[str, str | None] | None) -> str | None:
    return None if labels is None else labels.get(POOL, "")


_EFFECTS: Final = {
    "NO_SCHEDULE": "NoSchedule",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
    "NO_EXECUTE": "NoExecute",
}
# in the same form as kubectl accepts them
_WRITTEN_TAINT: Final = re.compile(r"(?P<key>[^=:]+)(=(?P<value>[^:]*))?:(?P<effect>.+)")


def taints_of(props: Properties, path: str) -> tuple[Taint, ...] | None:
    """Return taints with Kubernetes' names, or None if any part isn't known."""
    items = props.items(path)
    if items is None:
        return None
    taints: list[Taint] = []
    for item in items:
        if isinstance(item.values, str):
            words = _WRITTEN_TAINT.fullmatch(item.values)
            item = Properties(words.groupdict("") if words else UNKNOWN)
        key, value, effect = item.text("key"), item.text("value"), item.text("effect")
        if key is None or value is None or effect is None:
            return None
        taints.append(Taint(key, value, effect_of(effect)))
    return tuple(taints)


def effect_of(text: str) -> TaintEffect:
    """Return an effect with Kubernetes' name, from Kubernetes' or a cloud's name."""
    known: dict[str, Any] = {effect: effect for effect in get_args(TaintEffect)}
    effect: TaintEffect = known.get(_EFFECTS.get(text, text), "NoSchedule")
    return effect
