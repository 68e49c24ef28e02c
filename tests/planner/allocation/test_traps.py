"""Cases in which the allocator behaves unexpectedly, each with the upstream behavior.

The behavior was observed with the published library and with real schedulers 1.34 to 1.36. Devices
have the order of the lists.
"""

from __future__ import annotations

import pytest
from allocation_builders import (
    CLASSES,
    DRIVER,
    claim,
    counters,
    device,
    first_of,
    gpus,
    node,
    request,
    shape,
    slice_of,
)

from dra_planner.allocation import NodeState, Placement, Refusal, open_node, place, reasons_of
from dra_planner.model import (
    AllocatedDevice,
    CelSelector,
    ClaimSpec,
    DeviceCapacity,
    DeviceClass,
    DeviceSubRequest,
    DeviceTaint,
    DeviceToleration,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    RequestPolicy,
    Requirement,
    ResourceSlice,
    ValidRange,
)
from dra_planner.quantity import Quantity
from dra_planner.releases import Features, features_of

X_IS_1 = 'device.attributes["gpu.nvidia.com"].x == 1'
NOPE = 'device.attributes["gpu.nvidia.com"].nope == 1'
X = "gpu.nvidia.com/x"
F34, F35, F36, F37 = (features_of(minor) for minor in (34, 35, 36, 37))


def state(*slices: ResourceSlice, features: Features = F36, **more) -> NodeState:
    return open_node(node(), slices, CLASSES, features, **more)


def outcome(state: NodeState, *claims: ClaimSpec) -> str:
    """ "OK a b", "FAIL" or "ERROR …" """
    verdict = place(shape(*claims), state)
    if isinstance(verdict, Placement):
        return " ".join(("OK", *(d.device for d in verdict.devices)))
    assert isinstance(verdict, Refusal)
    return "FAIL" if verdict.error is None else f"ERROR {verdict.error.message}"


def held(name: str, driver: str = DRIVER) -> AllocatedDevice:
    return AllocatedDevice(request="r", driver=driver, pool="n1", device=name)


def values(**named: object) -> ResourceSlice:
    """One device per name, with attribute x where the value is not None."""
    return slice_of(*(device(name, {} if x is None else {"x": x}) for name, x in named.items()))


# -- selectors


def test_selector_errors_occur_only_if_the_search_reaches_them():
    assert outcome(state(values(a=1, b=None)), claim(request("r", X_IS_1))) == "OK a"
    assert outcome(state(values(a=1, b=None)), claim(request("r", X_IS_1, count=2))).endswith(
        "no such key: x"
    )
    assert outcome(state(values(b=None, a=1)), claim(request("r", X_IS_1))).startswith(
        "ERROR claim default/c1: selector #0"
    )


def test_devices_in_use_are_not_evaluated():
    here = state(values(b=None, a=1), allocated=[held("b")])
    assert outcome(here, claim(request("r", X_IS_1))) == "OK a"


def test_selectors_stop_at_the_first_mismatch():
    assert outcome(state(values(a=1)), claim(request("r", "false", NOPE))) == "FAIL"
    assert outcome(state(values(a=1)), claim(request("r", NOPE, "false"))).startswith("ERROR")


def test_class_selectors_run_before_request_selectors():
    other = slice_of("z", name="other", driver="a.example.com")
    gpu = values(a=1)
    assert outcome(state(other, gpu), claim(request("r", X_IS_1, device_class="gpu"))) == "OK a"
    # a.example.com comes first
    assert outcome(state(other, gpu), claim(request("r", X_IS_1))).startswith("ERROR")


# -- counts and limits


def test_exceeding_the_claim_limit_is_an_error():
    here = state(slice_of(*(f"d{i}" for i in range(40))))
    assert "33 exceeds the claim limit of 32" in outcome(here, claim(request(count=33)))
    assert "40 exceeds the claim limit of 32" in outcome(
        here, claim(request("a", count=20), request("b", count=20))
    )
    assert outcome(here, claim(request(count=20)), claim(request(count=21))) == "FAIL"


def test_all_without_matching_or_free_devices_fails():
    assert outcome(state(values(a=2)), claim(request("r", X_IS_1, count=0))) == "FAIL"
    assert (
        outcome(state(values(a=1, b=1), allocated=[held("b")]), claim(request(count=0))) == "FAIL"
    )
    assert outcome(state(values(a=1, b=1)), claim(request("r"), request("s", count=0))) == "FAIL"


def test_a_claim_without_requests_fits_everywhere():
    verdict = place(shape(ClaimSpec()), state())
    assert isinstance(verdict, Placement)
    assert verdict.claims["c1"].node_selector is None


# -- pools


def test_all_requires_complete_pools_of_every_driver():
    nic = slice_of("nic-0", name="nic", driver="nic.example.com", slice_count=2)
    assert "nic.example.com/n1 is currently being updated" in outcome(
        state(nic, values(a=1)), claim(request(device_class="gpu", count=0))
    )
    assert outcome(state(nic, values(a=1)), claim(request(device_class="gpu"))) == "OK a"


@pytest.mark.parametrize(
    ("features", "expected"), [(F34, "OK a"), (F35, "FAIL"), (F36, "FAIL"), (F37, "FAIL")]
)
def test_incomplete_pools_depend_on_the_version(features, expected):
    assert (
        outcome(state(slice_of("a", slice_count=2), features=features), claim(request()))
        == expected
    )


def test_an_old_generation_is_ignored():
    old = slice_of("a", "b", name="old", generation=1)
    new = slice_of("a", name="new", generation=2)
    assert outcome(state(old, new), claim(request(count=2))) == "FAIL"


def test_duplicate_device_name_in_a_pool_is_an_error():
    twice = (slice_of("a", name="one", slice_count=2), slice_of("a", name="two", slice_count=2))
    assert (
        outcome(state(*twice, features=F34), claim(request()))
        == "ERROR pool n1 is invalid: duplicate device name a"
    )
    verdict = place(shape(claim(request())), state(*twice))
    assert "duplicate device name a" in reasons_of(verdict)[-1].message


def test_slices_are_sorted_by_name_since_1_36():
    assert (
        outcome(
            state(slice_of("a", name="z", slice_count=2), slice_of("z1", name="b", slice_count=2)),
            claim(request()),
        )
        == "OK z1"
    )


def test_pools_with_binding_conditions_come_last():
    waiting = slice_of(
        device("a", binding_conditions=("ready",), binding_failure_conditions=("f",)), pool="aa"
    )
    assert outcome(state(waiting, slice_of("z", name="z", pool="zz")), claim(request())) == "OK z"
    off = F36.with_gates(binding_conditions=False)
    assert outcome(state(waiting, features=off), claim(request())) == "FAIL"


# -- constraints


def test_constraint_needs_the_attribute_even_for_a_single_device():
    assert outcome(state(values(a=None)), claim(request(), match=X)) == "FAIL"


def test_a_bare_attribute_belongs_to_its_driver():
    nic = slice_of(device("nic", {"numa": 0}), name="nic", driver="nic.example.com")
    gpu = slice_of(device("gpu", {"numa": 0, "resource.kubernetes.io/pcieRoot": "p"}))
    pair = (request("g", device_class="gpu"), request("n", 'device.driver == "nic.example.com"'))
    assert outcome(state(gpu, nic), claim(*pair, match="gpu.nvidia.com/numa")) == "FAIL"
    shared = slice_of(
        device("nic", {"resource.kubernetes.io/pcieRoot": "p"}),
        name="nic",
        driver="nic.example.com",
    )
    assert (
        outcome(state(gpu, shared), claim(*pair, match="resource.kubernetes.io/pcieRoot"))
        == "OK gpu nic"
    )


def test_integer_and_string_do_not_match():
    assert outcome(state(values(a=1, b="1")), claim(request(count=2), match=X)) == "FAIL"
    assert outcome(state(values(a=True, b=1)), claim(request(count=2), match=X)) == "FAIL"


def test_all_with_an_unsatisfied_constraint_is_an_error():
    assert "a claim constraint would not be satisfied" in outcome(
        state(values(a=1, b=2)), claim(request(count=0), match=X)
    )


@pytest.mark.parametrize(
    ("features", "expected"), [(F34, "OK a b c"), (F36, "OK a b c"), (F37, "FAIL")]
)
def test_distinct_attribute_within_one_request_depends_on_the_version(features, expected):
    here = state(values(a=1, b=2, c=1), features=features)
    assert outcome(here, claim(request(count=3), distinct=X)) == expected
    if features.minor < 37:
        assert (
            place(shape(claim(request(count=3), distinct=X)), here).notes[0].code
            == "may-depend-on-patch"
        )


def test_constraints_do_not_apply_across_claims():
    one = claim(request(), match=X)
    assert outcome(state(values(a=1, b=2)), one, one) == "OK a b"


# -- alternatives


def test_a_class_of_a_later_alternative_must_exist():
    assert outcome(state(values(a=1)), claim(first_of("r", ("any", 1), ("missing", 1)))) == "FAIL"


def test_selectors_of_a_later_alternative_are_evaluated_lazily():
    later = DeviceSubRequest(name="late", device_class_name="any", selectors=(CelSelector(NOPE),))
    assert outcome(state(values(a=1)), claim(first_of("r", ("any", 1), later))) == "OK a"


# -- admin access, taints, partitions


def admin(**more):
    return request("admin", admin_access=True, **more)


def test_admin_device_blocks_a_later_claim_of_the_same_pod():
    assert outcome(state(values(a=1)), claim(admin()), claim(request())) == "FAIL"
    assert outcome(state(values(a=1)), claim(request()), claim(admin())) == "OK a a"
    assert outcome(state(values(a=1)), claim(admin(), request("x", admin_access=True))) == "FAIL"
    assert outcome(state(values(a=1)), claim(admin()), claim(admin())) == "OK a a"


def test_admin_access_ignores_allocations_but_not_taints():
    assert outcome(state(values(a=1), allocated=[held("a")]), claim(admin())) == "OK a"
    assert (
        outcome(state(slice_of(device("a", taints=[DeviceTaint(key="k")]))), claim(admin()))
        == "FAIL"
    )


def test_taints_with_no_schedule_or_no_execute_reject_claims():
    def tainted(effect: str) -> ResourceSlice:
        return slice_of(device("a", taints=[DeviceTaint(key="k", value="v", effect=effect)]))

    exists = DeviceToleration(key="k", operator="Exists", effect="NoSchedule")
    assert outcome(state(tainted("None")), claim(request())) == "OK a"
    assert outcome(state(tainted("NoExecute")), claim(request(tolerations=(exists,)))) == "FAIL"
    assert (
        outcome(
            state(tainted("NoSchedule")), claim(request(tolerations=(DeviceToleration(key="k"),)))
        )
        == "FAIL"
    )
    assert outcome(state(tainted("NoSchedule"), features=F35), claim(request())) == "OK a"


def boards(*devices) -> tuple[ResourceSlice, ResourceSlice]:
    return counters(c=40), slice_of(*devices, slice_count=2)


def test_rejected_partition_releases_its_counters_in_the_latest_patch():
    full = device("full", draws={"c": 40}, taints=[DeviceTaint(key="k")])
    assert (
        outcome(state(*boards(full, device("half", draws={"c": 20}))), claim(request()))
        == "OK half"
    )
    old = F35.with_gates(partitionable_devices=True, device_taints=True)
    here = state(*boards(full, device("half", draws={"c": 20})), features=old)
    assert outcome(here, claim(request())) == "FAIL"
    assert "patch version" in reasons_of(place(shape(claim(request())), here))[0].message


def test_partitions_can_overlap():
    parts = (
        device("full", draws={"c": 40}),
        device("h1", draws={"c": 20}),
        device("h2", draws={"c": 20}),
    )
    assert outcome(state(*boards(*parts)), claim(request(count=2))) == "OK h1 h2"
    assert outcome(state(*boards(*parts)), claim(request(count=0))) == "FAIL"


def test_drivers_with_one_pool_name_share_counters_until_1_36():
    gpu = boards(device("g", draws={"c": 40}))
    nic = (
        counters(c=100, name="nic-counters", driver="nic.example.com"),
        slice_of(
            device("f", draws={"c": 200}), name="nic", driver="nic.example.com", slice_count=2
        ),
    )
    both = claim(
        request("g", device_class="gpu"), request("f", 'device.driver == "nic.example.com"')
    )
    assert outcome(state(*gpu, *nic, features=F37), both) == "FAIL"
    assert outcome(state(*gpu, *nic), both) == "FAIL"


# -- shares


def shared(memory: DeviceCapacity | str = "80Gi", **more) -> ResourceSlice:
    return slice_of(
        device("a", capacity={"memory": memory, **more}, allow_multiple_allocations=True)
    )


def capacity_request(**amounts: str):
    return request(capacity={name: Quantity.parse(amount) for name, amount in amounts.items()})


def test_shares_of_one_device_are_allocated():
    two = (claim(capacity_request(memory="30Gi")), claim(capacity_request(memory="30Gi")))
    assert outcome(state(shared()), *two) == "OK a a"
    assert outcome(state(shared()), *two, claim(capacity_request(memory="30Gi"))) == "FAIL"
    wide = request(count=2, capacity={"memory": Quantity.parse("10Gi")})
    assert outcome(state(shared()), claim(wide)) == "FAIL"
    assert (
        outcome(state(shared(), features=F35.with_gates(consumable_capacity=True)), claim(wide))
        == "OK a a"
    )


def test_shared_device_without_capacity_keeps_counters_in_1_35():
    # The first try, whole before shared, leaves shared without a third device. The second try,
    # shared before whole, doesn't draw the counters of shared again.
    whole = device("whole", {"x": 2}, draws={"c": 30})
    shared = device("shared", {"x": 3}, draws={"c": 10}, allow_multiple_allocations=True)
    old = F35.with_gates(partitionable_devices=True, consumable_capacity=True)
    three = claim(request(count=3), distinct=X)
    assert outcome(state(*boards(whole, shared), features=old), three) == "OK shared whole shared"
    new = F36.with_gates(partitionable_devices=True, consumable_capacity=True)
    assert outcome(state(*boards(whole, shared), features=new), three) == "FAIL"


def test_unspecified_capacity_is_allocated_completely():
    assert outcome(state(shared()), claim(request()), claim(request())) == "FAIL"
    some = (claim(capacity_request(memory="10Gi")), claim(capacity_request(memory="10Gi")))
    assert outcome(state(shared(cores="4")), *some) == "FAIL"
    policy = RequestPolicy(default=Quantity.parse("8Gi"), valid_values=(Quantity.parse("8Gi"),))
    assert (
        outcome(
            state(shared(DeviceCapacity(Quantity.parse("80Gi"), policy))),
            claim(request()),
            claim(request()),
        )
        == "OK a a"
    )


@pytest.mark.parametrize(("requested", "taken"), [("5Gi", "8Gi"), ("63Gi", "64Gi"), ("65Gi", None)])
def test_amounts_are_rounded_up_to_the_step(requested, taken):
    valid = ValidRange(
        minimum=Quantity.parse("4Gi"), step=Quantity.parse("4Gi"), maximum=Quantity.parse("64Gi")
    )
    policy = RequestPolicy(default=Quantity.parse("4Gi"), valid_range=valid)
    verdict = place(
        shape(claim(capacity_request(memory=requested))),
        state(shared(DeviceCapacity(Quantity.parse("80Gi"), policy))),
    )
    if taken is None:
        assert isinstance(verdict, Refusal)
    else:
        assert verdict.devices[0].consumed_capacity["memory"] == Quantity.parse(taken)


def test_capacity_filters_unshared_devices():
    two = slice_of(
        device("small", capacity={"memory": "40Gi"}), device("large", capacity={"memory": "80Gi"})
    )
    assert outcome(state(two), claim(capacity_request(memory="41Gi"))) == "OK large"
    assert outcome(state(two), claim(capacity_request(cores="1"))) == "FAIL"


# -- nodes


def test_allocated_claim_has_a_node_selector():
    zone = NodeSelector((NodeSelectorTerm((Requirement("zone", "In", ("a",)),)),))
    everywhere = slice_of("net", name="net", pool="net", all_nodes=True)
    zonal = slice_of("far", name="far", pool="far", node_selector=zone)
    here = open_node(node(labels={"zone": "a"}), [values(a=1), everywhere, zonal], CLASSES, F36)

    def selector(name: str) -> NodeSelector | None:
        classes = {name: DeviceClass(meta=ObjectMeta(name=name))}
        only = open_node(
            here.node,
            [s for s in (values(a=1), everywhere, zonal) if s.devices[0].name == name],
            classes,
            F36,
        )
        verdict = place(shape(claim(request(device_class=name))), only)
        return verdict.claims["c1"].node_selector

    assert selector("net") is None
    assert selector("far") == zone
    assert selector("a") == NodeSelector(
        (NodeSelectorTerm((), (Requirement("metadata.name", "In", ("n1",)),)),)
    )


@pytest.mark.parametrize(
    ("counts", "subject", "number"),
    [((33,), "the claim", 33), ((1, 40), 'claim "c2"', 40)],
)
def test_claim_with_too_many_devices_is_explained(
    counts: tuple[int, ...], subject: str, number: int
) -> None:
    verdict = place(shape(*(claim(request(count=each)) for each in counts)), state(gpus(42)))
    assert isinstance(verdict, Refusal)
    (reason,) = reasons_of(verdict)
    assert reason.code == "too-many-devices"
    assert reason.message == (f"{subject} needs {number} devices, but a claim can have at most 32")
