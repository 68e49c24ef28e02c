"""Build guards for groups: names for the parts of split pools, and the fewest rules that steer
every work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from dra_planner.model import Guards, ObjectKey, PoolPart, Shape, SteerRule, templates_of
from dra_planner.placement.even_spread import SpreadClass
from dra_planner.placement.workload_groups import WorkloadGroup
from dra_planner.sizing import LevelNeeds

Place = tuple[str, str]
"""A pool, and the name of a class whose pods spread evenly over its nodes, or ""."""
ClassesOf = Callable[[WorkloadGroup], Sequence[SpreadClass]]


def build_guards(
    groups: Sequence[WorkloadGroup],
    needs: LevelNeeds,
    shapes: Mapping[str, Shape],
    name_pool: Callable[[str], str],
    *,
    packs: bool,
    exact: bool = False,
    classes_of: ClassesOf = lambda _: (),
) -> tuple[Guards, dict[str, WorkloadGroup]]:
    """Return the guards that separate groups, and the group of each pool.

    `exact` gives each workload its own rule. Otherwise, workloads with the same
    ResourceClaimTemplate share a rule, and pods that fit only their pool don't have a rule.
    `name_pool` converts a text into a name that the cloud accepts. `classes_of` returns the classes
    of a group that spread evenly.
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
    place_of: dict[str, Place] = {}
    for name, group in group_of.items():
        classes = classes_of(group)
        spread = {work: str(n) for n, each in enumerate(classes, 1) for work in each.works}
        for work in sorted(group.works):
            if exact or packs or classes or name in split or len(needs.works[work].needs) > 1:
                place = name, spread.get(work, "")
                place_of.update(dict.fromkeys(needs.works[work].shapes, place))
    rules = tuple(_rules(place_of, shapes, exact=exact))
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
    """Return the name of a part, made from its pool's name and its pods' numbers of devices."""
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
    place_of: Mapping[str, Place], shapes: Mapping[str, Shape], *, exact: bool
) -> Iterator[SteerRule]:
    templates = {} if exact else _decided_templates(place_of, shapes)
    for place in sorted(set(place_of.values())):
        mine = [shapes[shape] for shape in sorted(place_of) if place_of[shape] == place]
        keys = sorted(
            {key for shape in mine for key in templates_of(shape) if templates.get(key) == place}
        )
        rest = [shape for shape in mine if not any(key in keys for key in templates_of(shape))]
        members = sorted(
            {(member.workload, member.pod_set) for shape in rest for member in shape.members}
        )
        pool, spread = place
        yield SteerRule(pool=pool, templates=tuple(keys), workloads=tuple(members), spread=spread)


def _decided_templates(
    place_of: Mapping[str, Place], shapes: Mapping[str, Shape]
) -> dict[ObjectKey, Place]:
    """Return the templates whose pods all go to one place, with this place.

    A template that a DaemonSet's pods also use is excluded, because these pods run on every node.
    """
    places: dict[ObjectKey, set[Place | None]] = defaultdict(set)
    for shape in shapes.values():
        for key in templates_of(shape):
            places[key].add(None if shape.per_node else place_of.get(shape.id))
    return {
        key: place
        for key, found in places.items()
        if len(found) == 1 and (place := next(iter(found))) is not None
    }
