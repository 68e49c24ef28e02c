"""One pod on one node."""

from __future__ import annotations

from allocation_builders import (
    CLASSES,
    GI,
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

from dra_planner.allocation import (
    NodeState,
    Placement,
    Refusal,
    Undecided,
    open_node,
    place,
    reasons_of,
)
from dra_planner.model import (
    DeviceCapacity,
    DeviceTaint,
    DeviceToleration,
    ObjectKey,
    RequestPolicy,
    ResourceSlice,
    Shape,
    ShapeClaim,
    Taint,
    Toleration,
    Unknown,
    ValidRange,
)
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of

F34, F35, F36, F37 = (features_of(minor) for minor in (34, 35, 36, 37))


def state(*slices: ResourceSlice, features=F36, **more) -> NodeState:
    return open_node(more.pop("on", node()), slices, CLASSES, features, **more)


def placed(verdict) -> list[str]:
    assert isinstance(verdict, Placement), reasons_of(verdict)
    return [d.device for d in verdict.devices]


def refused(verdict) -> Refusal:
    assert isinstance(verdict, Refusal), verdict
    return verdict


def fill(pod: Shape, on: NodeState) -> int:
    """Number of pods of one shape that fit on a node."""
    count = 0
    while isinstance(verdict := place(pod, on), Placement):
        on, count = verdict.node, count + 1
    return count


def test_devices_are_taken_in_order_without_side_effects():
    empty = state(gpus(2))
    pod = shape(claim(request()))
    first = place(pod, empty)
    assert placed(first) == ["gpu-0"]
    assert placed(place(pod, first.node)) == ["gpu-1"]
    assert placed(place(pod, empty)) == ["gpu-0"]


def test_count_larger_than_the_node_reports_its_devices():
    (reason,) = reasons_of(refused(place(shape(claim(request(count=9))), state(gpus(8)))))
    assert reason.code == "count-too-large"
    assert "9 devices" in reason.message
    assert "a node has 8 devices" in reason.fix


def test_three_pods_of_two_devices_fit_on_seven():
    assert fill(shape(claim(request(count=2))), state(gpus(7))) == 3


def test_alternatives_are_tried_if_a_later_claim_fails():
    pod = shape(claim(first_of("r", ("any", 2), ("any", 1))), claim(request()))
    verdict = place(pod, state(gpus(2)))
    assert [(d.request, d.device) for d in verdict.devices] == [("r/b", "gpu-0"), ("r", "gpu-1")]


def test_claim_limit_affects_the_chosen_alternative():
    pod = shape(claim(first_of("r1", ("any", 20), ("any", 10)), request("r2", count=20)))
    verdict = place(pod, state(gpus(64)))
    assert [d.request for d in verdict.devices].count("r1/b") == 10


def test_all_allocates_every_device_or_none():
    pod = shape(claim(request(count=0)))
    assert placed(place(pod, state(gpus(3)))) == ["gpu-0", "gpu-1", "gpu-2"]
    one_taken = place(shape(claim(request())), state(gpus(3)))
    assert refused(place(pod, one_taken.node)).kind == "devices"
    assert refused(place(pod, state(slice_of()))).kind == "devices"


def test_all_with_more_devices_than_the_claim_limit_is_an_error():
    assert refused(place(shape(claim(request(count=0))), state(gpus(33)))).kind == "error"


def test_match_attribute_backtracks_from_the_first_device():
    here = state(slice_of(*(device(n, {"x": x}) for n, x in zip("abc", (1, 2, 2), strict=True))))
    assert placed(place(shape(claim(request(count=2), match="gpu.nvidia.com/x")), here)) == [
        "b",
        "c",
    ]


def test_unsatisfiable_match_attribute_reports_the_values():
    here = state(slice_of(*(device(f"gpu-{i}", {"root": f"pci{i % 4}"}) for i in range(8))))
    (reason,) = reasons_of(
        refused(place(shape(claim(request(count=3), match="gpu.nvidia.com/root")), here))
    )
    assert reason.code == "match-attribute"
    assert "2 with pci0" in reason.message
    assert "at most 2 devices" in reason.fix


def test_unknown_values_match_within_a_group_only():
    here = state(slice_of(*(device(f"gpu-{i}", {"root": Unknown(f"g{i // 2}")}) for i in range(4))))
    assert placed(place(shape(claim(request(count=2), match="gpu.nvidia.com/root")), here)) == [
        "gpu-0",
        "gpu-1",
    ]
    assert (
        refused(place(shape(claim(request(count=3), match="gpu.nvidia.com/root")), here)).kind
        == "devices"
    )


def test_unknown_value_without_a_group_is_undecided():
    here = state(slice_of(*(device(f"gpu-{i}", {"root": Unknown()}) for i in range(4))))
    verdict = place(shape(claim(request(count=2), match="gpu.nvidia.com/root")), here)
    assert isinstance(verdict, Undecided)
    assert "gpu.nvidia.com/root" in reasons_of(verdict)[0].message


def test_irrelevant_unknown_value_is_ignored():
    here = state(
        slice_of(
            device("a", {"root": Unknown()}), device("b", {"root": 1}), device("c", {"root": 1})
        )
    )
    assert placed(place(shape(claim(request(count=2), match="gpu.nvidia.com/root")), here)) == [
        "b",
        "c",
    ]


def test_counters_are_shared_by_partitions():
    here = state(
        counters(memory=40),
        slice_of(*(device(f"h{i}", draws={"memory": 20}) for i in range(3)), slice_count=2),
    )
    assert fill(shape(claim(request())), here) == 2


def test_device_taint_can_be_tolerated():
    here = state(slice_of(device("a", taints=[DeviceTaint(key="k")]), "b"))
    assert placed(place(shape(claim(request())), here)) == ["b"]
    tolerant = request(tolerations=(DeviceToleration(key="k", operator="Exists"),))
    assert placed(place(shape(claim(tolerant)), here)) == ["a"]


def test_shares_of_a_device_are_rounded_by_its_policy():
    memory = DeviceCapacity(
        Quantity.parse("80Gi"),
        RequestPolicy(
            default=Quantity.parse("8Gi"),
            valid_range=ValidRange(minimum=Quantity.parse("4Gi"), step=Quantity.parse("4Gi")),
        ),
    )
    here = state(
        slice_of(device("a", capacity={"memory": memory}, allow_multiple_allocations=True))
    )
    assert fill(shape(claim(request(capacity={"memory": Quantity.parse("30Gi")}))), here) == 2
    assert fill(shape(claim(request())), here) == 10
    verdict = place(shape(claim(request(capacity={"memory": Quantity.parse("5Gi")}))), here)
    assert str(verdict.devices[0].consumed_capacity["memory"]) == str(8 * GI)


def test_missing_toleration_is_reported():
    tainted = node(taints=[Taint("nvidia.com/gpu", "present")])
    (reason,) = reasons_of(refused(place(shape(claim(request())), state(gpus(1), on=tainted))))
    assert reason.code == "missing-toleration"
    assert (
        '{key: nvidia.com/gpu, operator: Equal, value: "present", effect: NoSchedule}' in reason.fix
    )
    tolerant = shape(claim(request()), tolerations=(Toleration("nvidia.com/gpu", "Exists"),))
    assert placed(place(tolerant, state(gpus(1), on=tainted))) == ["gpu-0"]


def test_cpu_shortage_is_reported_with_its_amount():
    (reason,) = reasons_of(refused(place(shape(requests={"cpu": 80_000}), state())))
    assert reason.code == "insufficient-cpu"
    assert (
        reason.message == "the pod requests 80 CPUs, but the node has only 64 CPUs (16 CPUs short)"
    )


def test_pod_slots_are_a_resource():
    here = state(on=node(pods=2))
    assert fill(shape(requests={}), here) == 2


def test_missing_class_is_reported():
    (reason,) = reasons_of(
        refused(place(shape(claim(first_of("r", ("any", 1), ("nope", 1)))), state(gpus(1))))
    )
    assert reason.message == "request r/b: device class nope does not exist"


def test_pods_that_share_a_claim_use_its_devices_once():
    shared = ShapeClaim(name="gpu", spec=claim(request()), shared=ObjectKey("default", "one"))
    assert fill(shape(shared), state(gpus(1), on=node(pods=7))) == 7


def test_claim_serves_at_most_256_pods():
    shared = ShapeClaim(name="gpu", spec=claim(request()), shared=ObjectKey("default", "one"))
    pod, here = shape(shared, requests={}), state(gpus(1), on=node(pods=400))
    assert fill(pod, here) == 256


def test_incomplete_pools_are_used_only_by_1_34():
    half = slice_of("a", slice_count=2)
    assert placed(place(shape(claim(request())), state(half, features=F34))) == ["a"]
    reasons = reasons_of(refused(place(shape(claim(request())), state(half, features=F36))))
    assert "incomplete" in reasons[-1].message


def test_search_that_reaches_its_limit_is_undecided():
    parts = (device(f"p{i}", draws={"memory": 100 + i}) for i in range(24))
    # room for any eleven, never for twelve
    here = state(counters(memory=1240), slice_of(*parts, slice_count=2))
    verdict = place(shape(claim(request(count=12))), here, budget=5_000)
    assert isinstance(verdict, Undecided)
    assert reasons_of(verdict)[0].message.startswith(
        "the search gave up after 5001 devices without a result, so"
    )


def test_equal_devices_are_tried_once():
    here = state(gpus(24))
    pod = shape(
        claim(request("a", count=10)), claim(request("b", count=10)), claim(request("c", count=10))
    )
    assert refused(place(pod, here, budget=100)).kind == "devices"


def test_extended_resource_claim_names_are_the_same():
    from dra_planner.allocation.extended_resource_claims import CLAIM_NAME as ours
    from dra_planner.claims.extended_resources import CLAIM_NAME as given

    assert ours == given
