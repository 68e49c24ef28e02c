"""MIG configurations: the instances that a configuration creates on each GPU, and whether they fit
on the GPU.

A layout is the value of the node label `nvidia.com/mig.config` (`all-disabled`, `all-1g.10gb`,
`all-1g.10gb.me`, `all-balanced`), a geometry (`1g.10gb:2,3g.40gb:1`, in which `:1` can be omitted),
or layouts per GPU (`0-3=all-balanced;4,5=7g.80gb`, in which unlisted GPUs stay whole). Names and
geometries of the named layouts:
NVIDIA/gpu-operator:assets/state-mig-manager/0400_configmap.yaml@0b0b6b15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dra_planner.catalog.machines import Machine
from dra_planner.catalog.tables import read_table
from dra_planner.clouds import WHOLE
from dra_planner.drivers.nvidia.gpus import Gpu, MigProfile, gpu, mig_profiles
from dra_planner.errors import CatalogError
from dra_planner.wording import counted, use_one_of

ENGINES = ("multiprocessors", "copy_engines", "decoders", "encoders", "jpeg_engines", "ofa_engines")


class MigInstance(Struct, frozen=True):
    """A MIG instance and the memory slice at which it starts.

    The start is None if the placement is unknown.
    """

    profile: MigProfile
    start: int | None


MigGeometry = tuple[MigInstance, ...] | None
"""The instances on one GPU, sorted by start. None means that MIG is off. () means that MIG is on,
without instances.
"""


def check_mig_layout(machine: Machine, layout: str) -> None:
    """Raise CatalogError if a MIG configuration is unknown, isn't supported by the GPU, or doesn't
    fit it.
    """
    mig_layout(machine, layout)


def mig_layout(machine: Machine, layout: str) -> tuple[MigGeometry, ...]:
    """Return the instances that a MIG configuration creates on each GPU of a machine, in device
    order. Raises CatalogError.

    If the driver can choose, larger instances are placed first, each at the lowest possible start.
    Real nodes can differ in starts, and therefore in device names, but never in counts.
    """
    if layout in WHOLE:
        return (None,) * machine.gpu_count
    model = _mig_gpu(machine)
    if "=" not in layout:
        return (_geometry(model, layout),) * machine.gpu_count
    chosen: dict[int, MigGeometry] = {}
    for part in filter(None, (part.strip() for part in layout.split(";"))):
        devices, equals, own = part.partition("=")
        if not equals:
            raise CatalogError(
                f'"{part}" doesn\'t assign a MIG configuration to GPU indices',
                fix='use the form "0-3=all-balanced;4,5=7g.80gb"',
            )
        for index in _indices(devices, machine):
            if index in chosen:
                raise CatalogError(
                    f"GPU {index} has two MIG configurations", fix="list each GPU once"
                )
            chosen[index] = None if own.strip() in WHOLE else _geometry(model, own.strip())
    return tuple(chosen.get(index) for index in range(machine.gpu_count))


def mig_layouts(model: Gpu) -> tuple[str, ...]:
    """Return the named MIG configurations of a GPU model.

    The result is empty if it doesn't support MIG.
    """
    profiles = mig_profiles(model.id)
    if not profiles:
        return ()
    names = [layout_name(profile) for profile in profiles]
    named = [row["layout"] for row in read_table("mig_layouts") if row["gpu"] == model.id]
    return ("all-disabled", "all-enabled", *names, *named)


def layout_name(profile: MigProfile) -> str:
    """Return the configuration of one profile on every GPU: "all-1g.10gb.me" for 1g.10gb+me."""
    return "all-" + profile.name.replace("+", ".")


def place_instances(profiles: Sequence[MigProfile]) -> tuple[MigInstance, ...] | None:
    """Return a placement of all these instances on one GPU, sorted by start.

    Returns None if they don't fit.
    """
    order = sorted(
        profiles,
        key=lambda profile: (-(profile.size or 0), -(profile.multiprocessors or 0), profile.name),
    )
    starts = next(_starts(order, frozenset()), None)
    if starts is None:
        return None
    placed = (MigInstance(profile, start) for profile, start in zip(order, starts, strict=True))
    return tuple(sorted(placed, key=lambda instance: instance.start or 0))


def _starts(order: Sequence[MigProfile], taken: frozenset[int]) -> Iterator[tuple[int, ...]]:
    if not order:
        yield ()
        return
    profile, *rest = order
    for start in profile.starts:
        slices = frozenset(range(start, start + (profile.size or 0)))
        if not slices & taken:
            for others in _starts(rest, taken | slices):
                yield (start, *others)


def _mig_gpu(machine: Machine) -> Gpu:
    if machine.gpu_count == 0 or machine.accelerator is None or machine.accelerator.gpu is None:
        raise CatalogError(
            f"{machine.name} doesn't have an NVIDIA GPU, so it can't have a MIG configuration",
            fix="remove mig",
        )
    model = gpu(machine.accelerator.gpu)
    name = model.product_name or model.id
    if machine.accelerator.fraction is not None or model.is_virtual:
        raise CatalogError(
            (
                f"{machine.name} has only a fraction of a GPU ({name}), which can't be "
                "partitioned further"
            ),
            fix="remove mig",
        )
    if not model.mig_capable:
        raise CatalogError(
            f"{name} doesn't support MIG",
            fix="remove mig, or use a machine type whose GPUs support MIG, such as A100 or H100",
        )
    if not mig_profiles(model.id):
        raise CatalogError(f"the MIG profiles of {name} are unknown", fix="remove mig")
    return model


def _geometry(model: Gpu, layout: str) -> MigGeometry:
    if layout == "all-enabled":
        return ()
    for row in read_table("mig_layouts"):
        if (row["layout"], row["gpu"]) == (layout, model.id):
            return _placed(model, _counts(model, row["geometry"]), certain=True)
    for profile in mig_profiles(model.id):
        if layout == layout_name(profile):
            return _placed(model, {profile: profile.max_instances}, certain=True)
    if layout.startswith("all-"):
        raise CatalogError(
            f'"{layout}" isn\'t a MIG configuration of {model.product_name or model.id}',
            fix=use_one_of("configuration", mig_layouts(model)),
        )
    return _placed(model, _counts(model, layout), certain=False)


def _counts(model: Gpu, geometry: str) -> dict[MigProfile, int]:
    by_name = {profile.name: profile for profile in mig_profiles(model.id)}
    counts: dict[MigProfile, int] = {}
    for item in geometry.split(","):
        name, colon, number = item.strip().partition(":")
        if name not in by_name:
            raise CatalogError(
                f'{model.product_name or model.id} doesn\'t support the MIG profile "{name}"',
                fix=f"use one of these profiles: {', '.join(by_name)}",
            )
        if colon and not re.fullmatch(r"[1-9]\d?", number):
            raise CatalogError(
                f'the count in "{item.strip()}" isn\'t a number from 1 to 99',
                fix=f'use, for example, "{name}:2" for two instances',
            )
        counts[by_name[name]] = counts.get(by_name[name], 0) + int(number or 1)
    return counts


def _placed(model: Gpu, counts: dict[MigProfile, int], *, certain: bool) -> MigGeometry:
    """Place the instances of a configuration.

    NVIDIA publishes the `certain` configurations, which fit even if this table lacks data.
    """
    name = model.product_name or model.id
    text = ", ".join(f"{count} x {profile.name}" for profile, count in counts.items())
    for profile, count in counts.items():
        if count > profile.max_instances:
            raise CatalogError(
                f"{text} doesn't fit on {name}",
                fix=f"use at most {counted(profile.max_instances, 'instance')} of {profile.name}",
            )
    wanted = [profile for profile, count in counts.items() for _ in range(count)]
    if any(profile.size is None for profile in wanted):
        if certain or len(counts) == 1:
            return tuple(MigInstance(profile, None) for profile in wanted)
        raise CatalogError(
            f"the placements of MIG profiles on {name} are unknown, so {text} can't be checked",
            fix=use_one_of("configuration", mig_layouts(model)),
        )
    placed = place_instances(wanted) if engines_suffice(model, wanted) else None
    if placed is None:
        raise CatalogError(
            f"{text} doesn't fit on {name}",
            fix=use_one_of("configuration", mig_layouts(model)),
        )
    return placed


def engines_suffice(model: Gpu, wanted: Sequence[MigProfile]) -> bool:
    """Return whether the instances together need at most the engines of the largest profile."""
    for engine in ENGINES:
        amounts: list[int | None] = [getattr(profile, engine) for profile in wanted]
        totals: list[int | None] = [getattr(profile, engine) for profile in mig_profiles(model.id)]
        if None in amounts or None in totals:
            continue
        if sum(amount or 0 for amount in amounts) > max(total or 0 for total in totals):
            return False
    return True


def _indices(text: str, machine: Machine) -> list[int]:
    indices: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None:
            raise CatalogError(
                f'"{text}" isn\'t a list of GPU indices',
                fix='use GPU indices, for example "0-3" or "0,2"',
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last or last >= machine.gpu_count:
            raise CatalogError(
                f'"{part.strip()}" isn\'t a GPU index of {machine.name}',
                fix=f"use GPUs 0 to {machine.gpu_count - 1}",
            )
        indices.extend(range(first, last + 1))
    return indices
