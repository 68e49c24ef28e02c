"""Properties of every machine type, driver version, and MIG configuration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dra_planner import catalog, clouds
from dra_planner.catalog import Machine
from dra_planner.drivers import DriverNode, every_driver, nvidia
from dra_planner.drivers.dranet import predict_network_slices
from dra_planner.drivers.neuron import NEURON_DRIVER
from dra_planner.drivers.nvidia import DriverRelease, PublishingSettings, predict_slices
from dra_planner.drivers.nvidia.devices import NUMA_NODE
from dra_planner.drivers.tpu import TPU_DRIVER
from dra_planner.errors import CatalogError, UnsupportedFeature
from dra_planner.model import Device, ResourceSlice, Unknown
from dra_planner.plan import read_checked
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of
from dra_planner.slices import render_slice
from dra_planner.sources import Source

MACHINES = [machine for cloud in clouds.names() for machine in catalog.machines(cloud)]
GPU_MACHINES = [machine for machine in MACHINES if machine.gpu_count]
RELEASES = [release for release in nvidia.driver_releases() if release.is_installable]
EKS_MIG_MACHINES = [
    machine
    for machine in GPU_MACHINES
    if machine.cloud == "eks"
    and machine.accelerator
    and nvidia.mig_profiles(str(machine.accelerator.gpu))
]
MINORS = (34, 35, 36, 37)


def try_predicting(
    machine: Machine, release: DriverRelease, minor: int, mig: str, settings: PublishingSettings
) -> tuple[ResourceSlice, ...]:
    """Return the slices, or an empty tuple if the combination is rejected."""
    try:
        return predict_slices(
            machine,
            release,
            node_name="node-0",
            features=features_of(minor),
            mig=mig,
            settings=settings,
        )
    except (CatalogError, UnsupportedFeature):
        return ()


Case = tuple[Machine, DriverRelease, int, str, PublishingSettings]


def with_gate(gate: str) -> list[DriverRelease]:
    return [release for release in RELEASES if release.has_gate(gate)]


@st.composite
def predictions(draw: st.DrawFn) -> Case:
    """A machine type and a driver version with one of the driver's configurations. Some of them are
    rejected.
    """
    way = draw(st.sampled_from(["plain", "layout", "dynamic", "passthrough", "shares"]))
    machine = draw(
        st.sampled_from(GPU_MACHINES if way in ("plain", "passthrough") else EKS_MIG_MACHINES)
    )
    assert machine.accelerator is not None
    assert machine.accelerator.gpu is not None
    layouts = nvidia.mig_layouts(nvidia.gpu(machine.accelerator.gpu))
    compute_domains = draw(st.booleans())
    if way == "plain":
        settings = PublishingSettings(compute_domains=compute_domains)
        return (
            machine,
            draw(st.sampled_from(RELEASES)),
            draw(st.sampled_from(MINORS)),
            "none",
            settings,
        )
    if way == "layout":
        settings = PublishingSettings(compute_domains=compute_domains)
        releases = [release for release in RELEASES if not release.publishes_mig_parents]
        return (
            machine,
            draw(st.sampled_from(releases)),
            draw(st.sampled_from(MINORS)),
            draw(st.sampled_from(layouts)),
            settings,
        )
    gate = {
        "dynamic": "DynamicMIG",
        "passthrough": "PassthroughSupport",
        "shares": "ConsumableShares",
    }[way]
    shares = draw(st.sampled_from(["memory", "unlimited", "3"])) if way == "shares" else ""
    settings = PublishingSettings(
        gates={gate: True}, consumable_shares=shares, compute_domains=compute_domains
    )
    mig = draw(st.sampled_from(["none", "all-enabled"])) if way == "dynamic" else "none"
    return (
        machine,
        draw(st.sampled_from(with_gate(gate))),
        draw(st.sampled_from(MINORS[2:])),
        mig,
        settings,
    )


def devices(slices: tuple[ResourceSlice, ...]) -> Iterator[Device]:
    for each in slices:
        yield from each.devices


@hypothesis_settings(deadline=None)
@given(predictions())
def test_prediction_is_deterministic(case: Case) -> None:
    assert try_predicting(*case) == try_predicting(*case)


@hypothesis_settings(deadline=None)
@given(predictions())
def test_api_limits_are_respected(case: Case) -> None:
    slices = try_predicting(*case)
    for each in slices:
        partitioned = any(device.consumes_counters for device in each.devices)
        assert len(each.devices) <= (64 if partitioned else 128)
        assert len(each.shared_counters) <= 8
        for device in each.devices:
            # 4g.96gb of an RTX PRO 6000 has 33 attributes and capacities if the node's kernel
            # reports the addressing mode and the NUMA node
            certain = [
                name for name in device.attributes if name not in ("addressingMode", NUMA_NODE)
            ]
            assert len(certain) + len(device.capacity) <= 32
            assert all(
                len(value) <= 64 for value in device.attributes.values() if isinstance(value, str)
            )
    for driver in {each.driver for each in slices}:
        pool = [each for each in slices if each.driver == driver]
        names = [device.name for device in devices(tuple(pool))]
        assert len(names) == len(set(names))
        assert {each.slice_count for each in pool} == {len(pool)}
        assert [each.name for each in pool] == sorted(each.name for each in pool)


@hypothesis_settings(deadline=None, max_examples=25)
@given(predictions())
def test_reader_accepts_rendered_slices(case: Case) -> None:
    slices = try_predicting(*case)
    text = yaml.safe_dump_all([render_slice(each) for each in slices])
    manifests = read_checked([Source("slices.yaml", text)] if slices else [], features_of(case[2]))
    assert manifests.diagnostics == ()
    assert len(manifests.slices) == len(slices)


@hypothesis_settings(deadline=None)
@given(predictions())
def test_counters_suffice_for_the_whole_gpu_and_each_partition(
    case: Case,
) -> None:
    slices = try_predicting(*case)
    sets = {
        counters.name: counters.counters for each in slices for counters in each.shared_counters
    }
    for device in devices(slices):
        for drawn in device.consumes_counters:
            for name, amount in drawn.counters.items():
                assert Quantity.from_int(0) <= amount <= sets[drawn.counter_set][name]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.version)
def test_more_gpus_never_publish_fewer_devices(release: DriverRelease) -> None:
    by_model: dict[str, list[tuple[int, int]]] = {}
    for machine in GPU_MACHINES:
        assert machine.accelerator is not None
        published = try_predicting(machine, release, 36, "none", PublishingSettings())
        if published:
            by_model.setdefault(str(machine.accelerator.gpu), []).append(
                (machine.gpu_count, len(list(devices(published))))
            )
    for counts in by_model.values():
        assert all(gpus == published for gpus, published in counts)


def test_unknown_values_are_grouped_by_topology() -> None:
    for machine in GPU_MACHINES:
        places = catalog.gpu_places(machine)
        published = list(
            devices(
                try_predicting(
                    machine, nvidia.driver_release("0.4.1"), 36, "none", PublishingSettings()
                )
            )
        )
        roots = [device.attributes["resource.kubernetes.io/pcieRoot"] for device in published]
        assert roots == [Unknown(place.pcie_root or "") for place in places]


@pytest.mark.parametrize(
    ("cloud", "name", "driver", "count", "known"),
    [
        ("gke", "ct6e-standard-4t", TPU_DRIVER, 4, {"brand": "Google"}),
        ("eks", "trn2.48xlarge", NEURON_DRIVER, 16, {"instanceType": "trn2.48xlarge"}),
    ],
)
def test_other_accelerators_have_few_known_attributes(
    cloud: str, name: str, driver: str, count: int, known: dict[str, str]
) -> None:
    (published,) = slices_of_other_drivers(catalog.machine(cloud, name))
    assert published.driver == driver
    assert len(published.devices) == count
    values = published.devices[0].attributes
    assert (
        known.items()
        <= {key: value for key, value in values.items() if not isinstance(value, Unknown)}.items()
    )
    assert any(isinstance(value, Unknown) for value in values.values())


def slices_of_other_drivers(machine: catalog.Machine) -> list[ResourceSlice]:
    node = DriverNode(machine=machine, name="node-0", features=features_of(36))
    drivers = (
        each for each in every_driver() if each.accepts_true and each.serves_accelerator(machine)
    )
    return [found for driver in drivers for found in driver.slices(driver.options(), node)]


def test_machine_types_publish_only_their_own_devices() -> None:
    for machine in MACHINES:
        kinds = {machine.accelerator.kind} if machine.accelerator else set()
        is_served = bool(kinds & {"tpu", "neuron"}) or bool(
            machine.accelerator and machine.accelerator.vendor in ("amd", "habana")
        )
        assert is_served or not slices_of_other_drivers(machine), machine.name
        if not machine.gpu_count:
            assert (
                try_predicting(
                    machine, nvidia.driver_release("25.8.1"), 34, "none", PublishingSettings()
                )
                == ()
            )
        for each in predict_network_slices(machine, node_name="n"):
            on_gke = machine.additional_networks or machine.rdma_networks
            expected = machine.efa_interfaces if machine.cloud == "eks" else on_gke
            assert len(each.devices) == expected, machine.name
