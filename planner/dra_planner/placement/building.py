"""Guards for groups: names of the parts of split pools, and the fewest rules that steer
every work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from dra_planner.model import Guards, ObjectKey, PoolPart, Shape, SteerRule, templates_of
from dra_planner.placement.workload_groups import WorkloadGroup
from dra_planner.sizing import LevelNeeds


def build_guards(
    groups: Sequence[WorkloadGroup],
    needs: LevelNeeds,
    shapes: Mapping[str, Shape],
    name_pool: Callable[[str], str],
    *,
    packs: bool,
    exact: bool = False,
) -> tuple[Guards, dict[str, WorkloadGroup]]:
    """Return the guards that separate groups, and the group of each pool.

    `exact` gives each workload its own rule. Otherwise, workloads with the same
    ResourceClaimTemplate share a rule, and pods that only fit their pool have none. `name_pool`
    converts a text into a name that the cloud accepts.
    """
    group_of: dict[str, WorkloadGroup] = {}
    parts: list[PoolPart] = []
    taken = set(needs.pools)
    for pool, name in enumerate(needs.pools):
        inside = sorted(
            (each for each in groups if each.pool == pool), key=lambda each: _rank(each, needs)
        )
        if len(inside) < 2:
            group_of.update((name, each) for each in inside)
            continue
        for group in inside:
            part = _part_name(name, _devices(group, needs), taken, name_pool)
            taken.add(part)
            parts.append(PoolPart(part, name))
            group_of[part] = group
    split = {part.name for part in parts}
    pool_of: dict[str, str] = {}
    for name, group in group_of.items():
        for work in sorted(group.works):
            if exact or packs or name in split or len(needs.works[work].needs) > 1:
                pool_of.update(dict.fromkeys(needs.works[work].shapes, name))
    rules = tuple(_rules(pool_of, shapes, exact=exact))
    return Guards(parts=tuple(parts), rules=rules, packs=packs and bool(rules)), group_of


def _devices(group: WorkloadGroup, needs: LevelNeeds) -> tuple[int, ...]:
    """Return the numbers of devices that pods of a group need, ascending."""
    rows = needs.devices[group.pool]
    counts = (
        max(
            (
                need
                for need, row in zip(needs.works[work].needs[group.pool], rows, strict=True)
                if row
            ),
            default=0,
        )
        for work in group.works
    )
    return tuple(sorted(set(counts)))


def _rank(group: WorkloadGroup, needs: LevelNeeds) -> tuple[tuple[int, ...], list[int]]:
    """Order the parts of a pool, starting with the part for the largest pods."""
    return tuple(-each for each in reversed(_devices(group, needs))), sorted(group.works)


def _part_name(
    pool: str, devices: tuple[int, ...], taken: Collection[str], name_pool: Callable[[str], str]
) -> str:
    """Return the name of a part: its pool's name and its pods' devices."""
    link = "-" if "-" in name_pool("a-1") else "g"
    counts = link.join(map(str, devices)) if len(devices) <= 2 else f"{devices[0]}to{devices[-1]}"
    for letter in ("", *_letters()):
        for length in range(len(pool), 0, -1):
            name = name_pool(f"{pool[:length]}{link}{counts}{letter}")
            if name.endswith(f"{counts}{letter}"):
                if name not in taken:
                    return name
                break
    raise AssertionError(f"no name for a part of {pool}")


def _letters() -> Iterator[str]:
    yield from "bcdefghijklmnopqrstuvwxyz"
    yield from (f"x{number}" for number in range(10**3))


def _rules(
    pool_of: Mapping[str, str], shapes: Mapping[str, Shape], *, exact: bool
) -> Iterator[SteerRule]:
    templates = {} if exact else _decided_templates(pool_of, shapes)
    for pool in sorted(set(pool_of.values())):
        mine = [shapes[shape] for shape in sorted(pool_of) if pool_of[shape] == pool]
        keys = sorted(
            {key for shape in mine for key in templates_of(shape) if templates.get(key) == pool}
        )
        rest = [shape for shape in mine if not any(key in keys for key in templates_of(shape))]
        members = sorted(
            {(member.workload, member.pod_set) for shape in rest for member in shape.members}
        )
        yield SteerRule(pool=pool, templates=tuple(keys), workloads=tuple(members))


def _decided_templates(
    pool_of: Mapping[str, str], shapes: Mapping[str, Shape]
) -> dict[ObjectKey, str]:
    """Return the templates of which all pods go to one pool, with the pool.

    A template that a DaemonSet's pods also use is excluded, because these pods run on every node.
    """
    pools: dict[ObjectKey, set[str]] = defaultdict(set)
    for shape in shapes.values():
        for key in templates_of(shape):
            pools[key].add("" if shape.per_node else pool_of.get(shape.id, ""))
    return {
        key: next(iter(found))
        for key, found in pools.items()
        if len(found) == 1 and "" not in found
    }
