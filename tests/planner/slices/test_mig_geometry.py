"""Combinations of MIG instances: counters compared with manually placed slices, for every GPU whose
placements are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from dra_planner import catalog
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import Gpu, MigProfile, PublishingSettings, predict_slices
from dra_planner.errors import CatalogError
from dra_planner.model import Device, ResourceSlice
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of

Vector = tuple[int, ...]
PARTITIONED = {
    "a100-sxm4-40gb": ("eks", "p4d.24xlarge"),
    "a100-sxm4-80gb": ("eks", "p4de.24xlarge"),
    "h100-sxm5-80gb": ("eks", "p5.4xlarge"),
    "h200-sxm5-141gb": ("eks", "p5e.48xlarge"),
    "b200-sxm-180gb": ("eks", "p6-b200.48xlarge"),
    "rtx-pro-6000-server": ("eks", "g7e.2xlarge"),
}


def maximal(vectors: set[Vector]) -> set[Vector]:
    """The vectors to which no instance of any profile can be added."""
    width = range(len(next(iter(vectors))))
    return {
        v
        for v in vectors
        if not any(tuple(n + (i == j) for j, n in enumerate(v)) in vectors for i in width)
    }


def by_placing(profiles: Sequence[MigProfile]) -> set[Vector]:
    """Return every count vector for which all instances get their own memory slices, by trying all
    placements.
    """
    found: set[Vector] = set()
    seen: set[tuple[frozenset[int], Vector]] = set()

    def search(taken: frozenset[int], counts: Vector) -> None:
        if (taken, counts) in seen:
            return
        seen.add((taken, counts))
        found.add(counts)
        for index, profile in enumerate(profiles):
            for start in profile.starts:
                slices = frozenset(range(start, start + (profile.size or 0)))
                if not slices & taken:
                    search(taken | slices, tuple(n + (i == index) for i, n in enumerate(counts)))

    search(frozenset(), (0,) * len(profiles))
    return found


def by_counters(published: Sequence[ResourceSlice], profiles: Sequence[MigProfile]) -> set[Vector]:
    """Every count vector for which the first GPU's counters suffice, as the allocator draws
    them.
    """
    counters = next(each.shared_counters[0] for each in published if each.shared_counters).counters
    names = [profile.name for profile in profiles]
    devices = [
        (names.index(str(device.attributes["profile"])), _drawn(device))
        for each in published
        for device in each.devices
        if device.name.startswith("gpu-0-mig-") and device.attributes["profile"] in names
    ]
    found: set[Vector] = set()
    seen: set[tuple[tuple[tuple[str, int], ...], Vector]] = set()

    def search(left: Mapping[str, int], counts: Vector) -> None:
        key = (tuple(sorted(left.items())), counts)
        if key in seen:
            return
        seen.add(key)
        found.add(counts)
        for index, drawn in devices:
            if all(left[name] >= amount for name, amount in drawn.items()):
                rest = {name: amount - drawn.get(name, 0) for name, amount in left.items()}
                search(rest, tuple(n + (i == index) for i, n in enumerate(counts)))

    search({name: quantity.value for name, quantity in counters.items()}, (0,) * len(profiles))
    return found


def _drawn(device: Device) -> dict[str, int]:
    return {name: quantity.value for name, quantity in device.consumes_counters[0].counters.items()}


def publish(gpu_id: str) -> tuple[ResourceSlice, ...]:
    cloud, machine = PARTITIONED[gpu_id]
    return predict_slices(
        catalog.machine(cloud, machine),
        nvidia.driver_release("0.4.1"),
        node_name="node-0",
        features=features_of(36),
        mig="all-enabled",
        settings=PublishingSettings(gates={"DynamicMIG": True}),
    )


def plain(gpu_id: str) -> list[MigProfile]:
    """The profiles without media extensions: those that a table in a guide would list."""
    return [profile for profile in nvidia.mig_profiles(gpu_id) if profile.name.endswith("gb")]


@pytest.mark.parametrize("gpu_id", ["a100-sxm4-80gb", "h100-sxm5-80gb"])
def test_six_profiles_of_an_80_gb_gpu_have_28_maximal_combinations(gpu_id: str) -> None:
    profiles = plain(gpu_id)
    assert [profile.name[0] for profile in profiles] == ["1", "1", "2", "3", "4", "7"]
    assert len(maximal(by_placing(profiles))) == 28
    assert len(maximal(by_counters(publish(gpu_id), profiles))) == 28


@pytest.mark.parametrize("gpu_id", PARTITIONED)
def test_counters_allow_the_same_as_memory_slices(gpu_id: str) -> None:
    profiles = plain(gpu_id)
    assert maximal(by_counters(publish(gpu_id), profiles)) == maximal(by_placing(profiles))


@pytest.mark.parametrize("gpu_id", PARTITIONED)
def test_named_configurations_fill_the_gpu_as_in_their_table(gpu_id: str) -> None:
    cloud, machine_name = PARTITIONED[gpu_id]
    machine = catalog.machine(cloud, machine_name)
    possible = by_placing(nvidia.mig_profiles(gpu_id))
    for layout in nvidia.mig_layouts(nvidia.gpu(gpu_id)):
        for geometry in nvidia.mig_layout(machine, layout):
            counts = tuple(
                sum(instance.profile == profile for instance in geometry or ())
                for profile in nvidia.mig_profiles(gpu_id)
            )
            assert counts in possible, layout


def geometries(model: Gpu, most: int) -> Iterator[tuple[str, Vector]]:
    profiles = plain(model.id)

    def vectors(rest: int) -> Iterator[Vector]:
        if rest == 0:
            yield ()
            return
        for count in range(most + 1):
            for tail in vectors(rest - 1):
                yield (count, *tail)

    for vector in vectors(len(profiles)):
        if any(vector) and sum(vector) <= most:
            items = [f"{p.name}:{n}" for p, n in zip(profiles, vector, strict=True) if n]
            yield ",".join(items), vector


@pytest.mark.parametrize("gpu_id", ["a100-sxm4-80gb", "rtx-pro-6000-server"])
def test_configuration_is_valid_exactly_if_it_can_be_placed(gpu_id: str) -> None:
    cloud, name = PARTITIONED[gpu_id]
    machine = catalog.machine(cloud, name)
    possible = by_placing(plain(gpu_id))
    for text, vector in geometries(nvidia.gpu(gpu_id), most=4):
        try:
            nvidia.check_mig_layout(machine, text)
            accepted = True
        except CatalogError:
            accepted = False
        assert accepted == (vector in possible), text


@pytest.mark.parametrize("gpu_id", PARTITIONED)
def test_no_device_consumes_more_than_its_gpu_has(gpu_id: str) -> None:
    slices = publish(gpu_id)
    sets = {each.name: each.counters for piece in slices for each in piece.shared_counters}
    for piece in slices:
        for device in piece.devices:
            for drawn in device.consumes_counters:
                for name, quantity in drawn.counters.items():
                    assert Quantity.from_int(0) <= quantity <= sets[drawn.counter_set][name], (
                        device.name,
                        name,
                    )
