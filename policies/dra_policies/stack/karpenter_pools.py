"""Karpenter NodePools → declared pools with their node settings and, for static pools, their node
counts.

The initial node counts of other pools are unknown, because Karpenter launches nodes when pods need
them. Limits can set their maximum.

Source: kubernetes-sigs/karpenter:pkg/apis/v1/nodepool.go@22664681.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.clouds import POOL, Cloud, cloud, names
from dra_planner.quantity import Quantity, QuantityError
from dra_policies.stack.pools import has_gpus, taints_of
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool

TYPES = ("kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.sh/v1beta1:NodePool")
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def karpenter_pool(resource: Resource, others: Sequence[Resource] = ()) -> DeclaredPool | None:
    """Return the pool of a NodePool, or None for other resources and for unknown clouds.

    `others` are the resources that include its node class.
    """
    if resource.type not in TYPES:
        return None
    spec = resource.props.below("spec.template.spec")
    group = spec.text("nodeClassRef.group") or spec.text("nodeClassRef.apiVersion") or ""
    of_cloud = next(
        (
            each
            for each in map(cloud, names())
            if each.karpenter and group.startswith(each.karpenter)
        ),
        None,
    )
    if of_cloud is None:
        return None
    required = _required(spec)
    machines = required.get(_INSTANCE_TYPE, ())
    labels = resource.props.mapping("spec.template.metadata.labels")
    if labels is not None:
        labels |= {key: values[0] for key, values in required.items() if len(values) == 1}
    # If replicas is set, a pool has this number of nodes, regardless of pods. If the value isn't
    # known yet, the pool is still static.
    static = resource.props.has("spec.replicas") is not False
    nodes = _count(resource.props, "spec.replicas") if static else None
    pool = DeclaredPool(
        urn=resource.urn,
        title=resource.title("NodePool"),
        cloud=of_cloud.name,
        name=None if labels is None else labels.get(POOL, ""),
        machine=machines[0] if len(machines) == 1 else None,
        count_min=nodes if static else 0,
        count_desired=nodes,
        count_max=_count(resource.props, "spec.limits.nodes")
        if static
        else _most_nodes(resource.props, of_cloud, machines),
        labels=labels,
        taints=taints_of(spec, "taints"),
        has_gpus=_have_gpus(of_cloud.name, of_cloud.karpenter, required),
        leaves_desired=not static,
        own=resource.props,
    )
    return _with_node_class(pool, of_cloud, spec.text("nodeClassRef.name"), others)


def _most_nodes(props: Properties, of_cloud: Cloud, machines: Sequence[str]) -> int | None:
    """Return how many nodes of the only machine type the limits of a pool allow; None if that's
    unknown. Karpenter doesn't start a node that exceeds the rest of a limit.
    """
    limits = as_mapping(props.at("spec.limits"))
    machine = known_machine(of_cloud.name, machines[0]) if len(machines) == 1 else None
    if not limits or machine is None or "memory" in limits:  # Karpenter estimates the memory
        return None
    sizes = {"cpu": machine.vcpus, "nvidia.com/gpu": machine.gpu_count, "nodes": 1}
    counts: list[int] = []
    for key, limit in limits.items():
        size, amount = sizes.get(key), _amount(limit)
        if amount is None or size is None:
            return None
        counts += [amount // size] if size else []
    return min(counts, default=None)


def _amount(limit: object) -> int | None:
    try:
        return None if limit is UNKNOWN else Quantity.parse(str(limit)).value
    except QuantityError:
        return None


def _with_node_class(
    pool: DeclaredPool, of_cloud: Cloud, name: str | None, others: Sequence[Resource]
) -> DeclaredPool:
    """Return the pool with the image and boot settings of its node class."""
    settings = of_cloud.node_class
    if settings is None or not name:
        return pool
    kind = f":{settings.kind}"
    found = [
        each
        for each in others
        if each.type.endswith(kind) and each.props.text("metadata.name") == name
    ]
    if len(found) != 1:
        return pool
    props = found[0].props
    alias = _alias(props, settings.images)
    family, _, release = (alias or "").partition("@")
    family = family or (props.text(settings.family, "") or "").lower()
    return replace(
        pool,
        template=props,
        template_urn=found[0].urn,
        image=_image(of_cloud, family, pool.machine),
        release=None if alias is None else release,
        boot_script=props.text(settings.boot_script),
    )


def _alias(node_class: Properties, path: str) -> str | None:
    """Return the image alias, "" if images are selected in another way, or None if it isn't
    known.
    """
    terms = node_class.items(path)
    if terms is None:
        return None
    return next((term.text("alias") for term in terms if term.has("alias") is not False), "")


def _image(of_cloud: Cloud, family: str, machine: str | None) -> str | None:
    """Return a family's image for nodes with NVIDIA GPUs, named as in node groups, or None if
    unknown.
    """
    settings = of_cloud.node_class
    start = dict(settings.families).get(family) if settings is not None else None
    if start is None:
        return None
    arch = next((each.arch for each in catalog.machines(of_cloud.name) if each.name == machine), "")
    known = of_cloud.gpu_images.get(arch, "")
    return f"{start}{known.partition('_')[2] or 'NVIDIA'}"


def _count(pool: Properties, path: str) -> int | None:
    """Return a count of a NodePool, or None if it's unset or unknown."""
    return pool.count(path, 0) if pool.has(path) else None


def _required(spec: Properties) -> dict[str, tuple[str, ...]]:
    """Return the labels whose value must be one of a set of known values."""
    found: dict[str, tuple[str, ...]] = {}
    for item in spec.items("requirements") or ():
        key, operator, values = item.text("key"), item.text("operator"), item.texts("values")
        if key and operator == "In" and values and None not in values:
            found[key] = tuple(value for value in values if value is not None)
    return found


def _have_gpus(cloud_name: str, domain: str, required: dict[str, tuple[str, ...]]) -> bool | None:
    """Return whether all of the pool's machine types have NVIDIA GPUs (True) or none of them do
    (False). None if this is unknown or mixed.
    """
    if required.get(f"{domain}/instance-gpu-manufacturer") == ("nvidia",):
        return True
    if f"{domain}/instance-gpu-name" in required:
        return True
    answers = {has_gpus(cloud_name, machine) for machine in required.get(_INSTANCE_TYPE, ())}
    families = required.get(f"{domain}/instance-family", ())
    with_gpus = {machine.family for machine in catalog.machines(cloud_name) if machine.gpu_count}
    answers |= {family in with_gpus for family in families}
    categories = required.get(f"{domain}/instance-category", ())
    if categories and set(categories) <= set("cmrt"):
        answers.add(False)
    return answers.pop() if len(answers) == 1 else None
