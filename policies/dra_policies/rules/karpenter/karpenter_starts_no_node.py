"""Karpenter NodePools whose requirements, limits, or node class exclude all machine types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.clouds import cloud, names
from dra_planner.quantity import Quantity, QuantityError
from dra_planner.wording import either
from dra_policies.rules.karpenter.selected_subnets import unmatched_tags
from dra_policies.rules.karpenter.unmatched_selectors import selectors_without_pool
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import as_mapping
from dra_policies.view.pool_machines import (
    capacity_types,
    known_machine,
    requirements,
)
from dra_policies.view.stack_view import DeclaredPool, StackView

URL: Final = "https://karpenter.sh/docs/concepts/nodepools/"
_NODE_CLASS: Final = ":EC2NodeClass"
_NODE_POOL: Final = "karpenter.sh/"
_REQUIREMENTS: Final = "spec.template.spec.requirements"
_MIB: Final = 1024 * 1024
# labels instance-gpu-… of nodes with NVIDIA GPUs
_GPU_FACTS: Final[Mapping[str, Callable[[Machine], str]]] = {
    "manufacturer": lambda machine: "nvidia" if machine.gpu_count else "",
    "count": lambda machine: str(machine.gpu_count or ""),
}
# parts of labels instance-… whose values Karpenter and EKS Auto Mode write in lowercase
# (aws/karpenter-provider-aws:pkg/providers/instancetype/types.go@v1.14, lowerKabobCase)
_LOWERCASE: Final = ("category", "family", "size", "gpu-name", "gpu-manufacturer", "hypervisor")
# Karpenter subtracts a share of a machine type's listed memory (settings.vmMemoryOverheadPercent,
# 7.5%).
_MEMORY_LEFT: Final = 0.9
# karpenter.sh, upgrade guide: 1.0 is the last version that serves v1beta1
_LAST_BETA: Final = (1, 0)


def check(view: StackView) -> Iterator[Finding]:
    yield from selectors_without_pool(view)
    yield from _values_with_capitals(view)
    for pool in view.pools:
        if pool.own.has("spec.template.spec.nodeClassRef"):
            yield from _machines(pool)
            yield from _node_class(pool, view)
            if fault := unmatched_tags(pool, view):
                yield _finding(pool, fault[0], fix=fault[1])
            yield from _version(pool, view)
            yield from _reserved(pool)


def _values_with_capitals(view: StackView) -> Iterator[Finding]:
    """Yield requirements that list only values with capital letters, for labels whose values are
    lowercase.
    """
    own = [of_cloud for of_cloud in map(cloud, names()) if of_cloud.karpenter]
    domains = {domain for each in own for domain in (each.karpenter, *each.reserved_domains)}
    lowercase = {f"{domain}/instance-{part}" for domain in domains for part in _LOWERCASE}
    for each in view.objects:
        for item in each.props.items(_REQUIREMENTS) or () if _NODE_POOL in each.type else ():
            key, values = item.text("key") or "", item.texts("values") or ()
            named = [value for value in values if value is not None]
            wrong = named and len(named) == len(values) and all(map(_has_capitals, named))
            if key in lowercase and item.text("operator") == "In" and wrong:
                yield Finding(
                    message=f'NodePool "{each.name}" can\'t create nodes, because it requires {key} '
                    f"{' or '.join(named)}, but values of this label are lowercase",
                    fix=f"use {' and '.join(value.lower() for value in named)} in the "
                    f"{key} requirement",
                    urn=each.urn,
                )


def _has_capitals(value: str) -> bool:
    return value != value.lower()


def _machines(pool: DeclaredPool) -> Iterator[Finding]:
    required = requirements(pool)
    names = required.get("node.kubernetes.io/instance-type", ())
    systems = required.get("kubernetes.io/os", ())
    if systems and "linux" not in systems and pool.is_dra:
        yield Finding(
            message=f"{pool.title} requires {' or '.join(map(str.capitalize, systems))} nodes, but the DRA driver runs "
            "only on Linux",
            fix="set the kubernetes.io/os requirement to linux",
            urn=pool.urn,
        )
    known = {
        name: found for name in names if (found := known_machine(pool.cloud, name)) is not None
    }
    for name in names:
        if name not in known and (near := _near(pool.cloud, name)):
            yield _finding(
                pool,
                f"its machine type {name} is unknown",
                fix=f"if you mean {near}, correct the name",
                certain=False,
            )
    if not names:
        yield from _gpus(pool, catalog.machines(pool.cloud), certain=False)
        yield from _limits(pool, _of_family(pool, required))
    if not names or len(known) < len(names):
        return
    arches = required.get("kubernetes.io/arch", ())
    fitting = [each for each in known.values() if not arches or each.arch in arches]
    if not fitting:
        yield _finding(
            pool,
            f"its requirements allow only {' or '.join(arches)} CPUs, but its machine "
            f"types ({', '.join(names)}) have "
            f"{' and '.join(sorted({each.arch for each in known.values()}))} CPUs",
            fix="set the kubernetes.io/arch requirement to "
            f"{next(iter(known.values())).arch}, or use other machine types",
        )
        return
    yield from _gpus(pool, fitting)
    yield from _limits(pool, fitting)


def _of_family(pool: DeclaredPool, required: Mapping[str, tuple[str, ...]]) -> list[Machine]:
    """Return the machine types of the families and sizes that a pool requires, or [] unless it
    requires families whose machine types all have GPUs.
    """
    domain = cloud(pool.cloud).karpenter
    families = required.get(f"{domain}/instance-family", ())
    sizes = required.get(f"{domain}/instance-size", ())
    found = [
        each
        for each in catalog.machines(pool.cloud)
        if each.name.partition(".")[0] in families
        and (not sizes or each.name.partition(".")[2] in sizes)
    ]
    known = {each.name.partition(".")[0] for each in found}
    return found if known == {*families} else []


def _gpus(
    pool: DeclaredPool, machines: Sequence[Machine], *, certain: bool = True
) -> Iterator[Finding]:
    """Yield a GPU requirement that none of the machine types satisfies."""
    domain = cloud(pool.cloud).karpenter
    for item in pool.own.items(_REQUIREMENTS) or ():
        key, operator, values = item.text("key"), item.text("operator") or "", item.texts("values")
        name = (key or "").removeprefix(f"{domain}/instance-gpu-")
        if name not in _GPU_FACTS or not values or None in values:
            continue
        having = [fact for each in machines if (fact := _GPU_FACTS[name](each))]
        wanted = [value for value in values if value is not None]
        if having and not any(_satisfies(fact, operator, wanted) for fact in having):
            yield _finding(
                pool,
                f'no machine type meets the requirement "{key} {operator} {", ".join(wanted)}"',
                fix=f"change the {key} requirement to "
                f"{either(sorted({*having}, key=lambda each: (len(each), each)))}",
                certain=certain,
            )


def _satisfies(fact: str, operator: str, wanted: list[str]) -> bool:
    """Return whether a label's value satisfies a requirement. Unknown operators do."""
    if operator in ("Gt", "Lt") and fact.isdecimal() and wanted[0].isdecimal():
        return (int(fact) > int(wanted[0])) == (operator == "Gt") and fact != wanted[0]
    return operator != "In" or fact in wanted


def _limits(pool: DeclaredPool, machines: list[Machine]) -> Iterator[Finding]:
    """Yield limits that the smallest machine exceeds: Karpenter excludes machine types that exceed
    the remaining limit.

    Source: kubernetes-sigs/karpenter:pkg/controllers/provisioning/scheduling/scheduler.go
    (filterByRemainingResources).
    """
    for key, sizes in (
        ("cpu", [each.vcpus for each in machines]),
        (
            "memory",
            [each.memory_mib and int(each.memory_mib * _MIB * _MEMORY_LEFT) for each in machines],
        ),
        ("nvidia.com/gpu", [each.accelerator and each.accelerator.count for each in machines]),
    ):
        limit = _amount(pool.own.below("spec.limits").values, key)
        least = min((size for size in sizes if size), default=None)
        if limit is None or least is None or None in sizes or limit >= least:
            continue
        smallest = machines[sizes.index(least)]
        has = {"cpu": smallest.vcpus, "memory": _memory_text(smallest.memory_mib)}.get(key, least)
        size = {"cpu": f"{has} CPUs", "nvidia.com/gpu": f"{has} GPUs"}.get(key, has)
        shown = key.replace("cpu", "CPU")
        yield _finding(
            pool,
            f"its {shown} limit ({pool.own.below('spec.limits').values[key]}) is lower than the "
            f"{size} of a single {smallest.instance_type} node",
            fix=f"raise spec.limits.{key} to at least {has} for each node that you need, or remove the "
            "limit",
            certain=limit != 0,  # a limit of 0 pauses the pool, often on purpose
        )


def _memory_text(mib: int | None) -> str:
    """Return memory as a quantity in Gi, or in Mi if it isn't a multiple of 1 GiB."""
    return f"{mib // 1024}Gi" if mib and mib % 1024 == 0 else f"{mib}Mi"


def _amount(limits: object, key: str) -> int | None:
    value = (as_mapping(limits) or {}).get(key)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return Quantity.parse(str(value)).value
    except QuantityError:
        return None


def _node_class(pool: DeclaredPool, view: StackView) -> Iterator[Finding]:
    """Yield a node class whose name is probably a misspelling of a node class in the stack. Other
    node classes might be created elsewhere.
    """
    wanted = pool.own.text("spec.template.spec.nodeClassRef.name")
    classes = [
        each.props.text("metadata.name") for each in view.objects if each.type.endswith(_NODE_CLASS)
    ]
    names = [name for name in classes if name]
    if not wanted or wanted in names or len(names) < len(classes):
        return
    near = get_close_matches(wanted, names, 1, 0.8)
    if near:
        yield _finding(
            pool,
            f'its EC2NodeClass "{wanted}" isn\'t in this stack',
            fix=f'set nodeClassRef.name to "{near[0]}"',
        )


def _version(pool: DeclaredPool, view: StackView) -> Iterator[Finding]:
    written = pool.own.text("apiVersion") or ""
    for each in view.objects if written.endswith("/v1beta1") else ():
        chart = (each.props.text("chart") or "").rstrip("/").rpartition("/")[2]
        version = re.match(r"v?(\d+)\.(\d+)", each.props.text("version") or "")
        if chart == "karpenter" and version and (int(version[1]), int(version[2])) > _LAST_BETA:
            yield _finding(
                pool,
                f"its apiVersion is {written}, which Karpenter {version[0]} doesn't support",
                fix="set apiVersion to karpenter.sh/v1, and set group and kind in nodeClassRef",
            )


def _reserved(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a pool that allows only reserved nodes, but whose node class doesn't select a
    reservation.
    """
    settings = cloud(pool.cloud).node_class
    if (
        settings is None
        or capacity_types(pool) != frozenset({settings.reserved})
        or pool.template is None
    ):
        return
    if (
        pool.template.has(settings.reservations) is False
        or pool.template.at(settings.reservations) == []
    ):
        key = settings.reservations.rpartition(".")[2]
        yield _finding(
            pool,
            f'it allows only the "{settings.reserved}" capacity type, but its node class doesn\'t '
            f"set {key}",
            fix=f"select the reservations in {settings.reservations} of the {settings.kind}",
        )


def _near(of_cloud: str, name: str) -> str:
    """Return the machine type of a known family for which an unknown name is probably a
    misspelling, or "".
    """
    family = name.partition(".")[0]
    of_family = [each.name for each in catalog.machines(of_cloud) if each.family == family]
    return next(iter(get_close_matches(name, of_family, 1, 0.8)), "")


def _finding(pool: DeclaredPool, reason: str, *, fix: str, certain: bool = True) -> Finding:
    message = (
        f"{pool.title} can't create nodes, because {reason}"
        if certain
        else f"{pool.title} might be unable to create nodes, because {reason}"
    )
    return Finding(message=message, fix=fix, urn=pool.urn, certain=certain)


RULE = Rule(
    id="karpenter-starts-no-node",
    description="No machine type satisfies the requirements and limits of a Karpenter NodePool.",
    why="Karpenter doesn't create nodes, so pods with claims stay pending.",
    fix="Change the requirements, limits, or node class so that they match a machine type.",
    level="mandatory",
    url=URL,
    needs="stack",
    check=check,
)
