"""What would make a pod fit."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from itertools import combinations

import pytest
from allocation_builders import CLASSES, claim, device, gpus, node, request, shape, slice_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement, Refusal, open_node, place, reasons_of
from dra_planner.allocation.node.pod_rules import sight_of
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.replacement_text import replacement_text
from dra_planner.allocation.reasons.suggestions import suggest_edits
from dra_planner.model import (
    CelSelector,
    Container,
    ContainerPort,
    DeviceCapacity,
    DeviceClass,
    DeviceTaint,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PodAffinityTerm,
    RequestPolicy,
    Requirement,
    Shape,
    Taint,
)
from dra_planner.quantity import Quantity, amount_text_at_most
from dra_planner.releases import features_of

F36 = features_of(36)
SELECTORS = (
    "device.attributes['gpu.nvidia.com'].x == 1",
    "device.attributes['gpu.nvidia.com'].x == 9",
)
INSTANCES = int(os.environ.get("EDIT_INSTANCES", "120"))


def refusal_of(pod: Shape, here: NodeState) -> Refusal:
    verdict = place(pod, here)
    assert isinstance(verdict, Refusal)
    return verdict


def opened(*slices, on=None) -> NodeState:
    return open_node(on or node(), slices, CLASSES, F36)


def test_taint_suggests_a_toleration():
    here = opened(gpus(1), on=node(taints=[Taint("nvidia.com/gpu", "present")]))
    (edit,) = suggest_edits(refusal_of(shape(claim(request())), here))
    assert edit.kind == "tolerate"
    assert "key: nvidia.com/gpu" in str(edit)


def test_full_node_suggests_one_more_node():
    pod, fresh = shape(claim(request(count=2))), opened(gpus(2))
    full = place(pod, fresh).node
    (edit,) = suggest_edits(refusal_of(pod, full), fresh)
    assert str(edit) == "add one more node like n1"


def test_count_is_lowered_only_as_far_as_needed():
    pod = shape(claim(request(count=9)))
    (edit,) = suggest_edits(refusal_of(pod, opened(gpus(8))))
    assert str(edit) == 'request 8 devices instead of 9 in request "r"'


def test_claim_for_more_devices_than_any_node_has_is_not_split():
    """Counts have no upper limit, so splitting must not create a request for every 32 devices."""
    pod = shape(claim(request(count=2**62)))
    edits = suggest_edits(refusal_of(pod, opened(gpus(8))))
    assert "split-claim" not in {edit.kind for edit in edits}


def test_request_is_never_lowered_to_zero():
    """A pod that requests none of it is another pod."""
    pod = shape(requests={"nvidia.com/gpu": 1})
    assert suggest_edits(refusal_of(pod, opened(gpus(1)))) == ()
    some = opened(gpus(1), on=node(**{"nvidia.com/gpu": 1}))
    (edit,) = suggest_edits(refusal_of(shape(requests={"nvidia.com/gpu": 3}), some))
    assert edit.value == 1


def test_only_the_count_of_extended_resources_is_changed():
    """Their claim isn't in a manifest, so it has no class or selector that a user could change."""

    def implicit(pod: Shape) -> Shape:
        return replace(
            pod, claims=tuple(replace(each, name="extended-resources") for each in pod.claims)
        )

    pod = implicit(shape(claim(request(count=9))))
    (edit,) = suggest_edits(refusal_of(pod, opened(gpus(8))))
    assert str(edit) == "request 8 devices instead of 9 in the pod's extended resources"
    missing = implicit(shape(claim(request("a", SELECTORS[1]))))
    assert suggest_edits(refusal_of(missing, opened(gpus(8)))) == ()


def test_another_pool_is_suggested_if_no_other_edit_helps():
    pod = shape(claim(request(count=1), request("s")))
    (edit,) = suggest_edits(refusal_of(pod, opened(gpus(1))), None, {"big": opened(gpus(4))})
    assert str(edit) == "allow the pod to run in pool big"


def test_two_obstacles_need_two_edits():
    here = opened(gpus(4), on=node(taints=[Taint("nvidia.com/gpu")]))
    edits = suggest_edits(refusal_of(shape(claim(request(count=5))), here))
    assert [e.kind for e in edits] == ["tolerate", "lower-count"]


def test_class_that_matches_nothing_is_ignored():
    nothing = DeviceClass(
        meta=ObjectMeta(name="nothing"), selectors=(CelSelector("device.driver == 'none'"),)
    )
    here = open_node(
        node(taints=[Taint("nvidia.com/gpu")]), [gpus(8)], {**CLASSES, "nothing": nothing}, F36
    )
    pod = shape(claim(request("a", SELECTORS[1], count=6), request("b", count=6)))
    edits = suggest_edits(refusal_of(pod, here))
    assert [e.kind for e in edits] == ["tolerate", "lower-count", "drop-selector"]


def test_two_requests_move_to_two_classes():
    classes = {
        name: DeviceClass(meta=ObjectMeta(name=name), selectors=(CelSelector(selector),))
        for name, selector in {
            "one": "device.attributes['gpu.nvidia.com'].x == 1",
            "two": "device.attributes['gpu.nvidia.com'].x == 2",
            "none": "device.driver == 'none'",
        }.items()
    }
    here = open_node(
        node(), [slice_of(device("d0", {"x": 1}), device("d1", {"x": 2}))], classes, F36
    )
    pod = shape(claim(request("a", device_class="none"), request("b", device_class="none")))
    edits = suggest_edits(refusal_of(pod, here))
    assert [(e.kind, e.name) for e in edits] == [("use-class", "one"), ("use-class", "two")]


ZONE_A = NodeSelector((NodeSelectorTerm((Requirement("zone", "In", ("a",)),)),))
OF_X = LabelSelector((Requirement("app", "In", ("x",)),))
APART = (PodAffinityTerm(topology_key="kubernetes.io/hostname", label_selector=OF_X),)
WITH_PORT = Container(
    name="main", requests={"cpu": 1000}, ports=(ContainerPort(container_port=80, host_port=80),)
)


SHARED = DeviceCapacity(Quantity.parse("24Gi"), RequestPolicy(default=Quantity.parse("1Gi")))


def with_port(pod: Shape) -> Shape:
    return replace(pod, pod=replace(pod.pod, containers=(WITH_PORT,)))


OTHERS = {
    "lower the pod's request for cpu from 100 CPUs to 64 CPUs": (
        shape(claim(request()), requests={"cpu": 100_000}),
        gpus(1),
        (),
    ),
    'remove the request for shares from request "r", because no device publishes it': (
        shape(claim(request(capacity={"shares": Quantity.from_int(1)}))),
        gpus(1),
        (),
    ),
    'request the capacity "memory" instead of "mem" in request "r"': (
        shape(claim(request(capacity={"mem": Quantity.parse("8Gi")}))),
        slice_of(device("a", capacity={"memory": "24Gi"}, allow_multiple_allocations=True)),
        (),
    ),
    'request at most 24Gi memory instead of 90Gi in request "r"': (
        shape(claim(request(capacity={"memory": Quantity.parse("90Gi")}))),
        slice_of(device("a", capacity={"memory": "24Gi"}, allow_multiple_allocations=True)),
        (),
    ),
    'request less memory than 20Gi in request "r"': (  # the default of 1Gi fits
        shape(claim(request(capacity={"memory": Quantity.parse("20Gi")}))),
        slice_of(device("a", capacity={"memory": SHARED}, allow_multiple_allocations=True)),
        (shape(claim(request(capacity={"memory": Quantity.parse("10Gi")}))),),
    ),
    "remove the pod's required node affinity": (
        shape(claim(request()), node_affinity=ZONE_A),
        gpus(1),
        (),
    ),
    'remove the constraint on gpu.nvidia.com/x from claim "c1"': (
        shape(claim(request("r"), request("s"), match="gpu.nvidia.com/x")),
        slice_of(device("a", {"x": 1}), device("b", {"x": 2})),
        (),
    ),
    "use gpu.nvidia.com/group instead of gpu.nvidia.com/groups in the constraint of claim c1": (
        shape(claim(request(count=2), match="gpu.nvidia.com/groups")),
        slice_of(device("a", {"group": 1}), device("b", {"group": 1})),
        (),
    ),
    "use gpu.nvidia.com/group instead of other.com/group in the constraint of claim c1": (
        shape(claim(request(count=2), match="other.com/group")),
        slice_of(device("a", {"group": 1}), device("b", {"group": 1})),
        (),
    ),
    "split claim c1 into several claims, because a claim can have at most 32 devices": (
        shape(claim(request("r", count=30), request("s", count=4))),
        gpus(34),
        (),
    ),
    'set count: 1 instead of allocationMode: All in request "r"': (
        shape(claim(request(count=0))),
        gpus(2),
        (shape(claim(request())),),
    ),
    "remove the pod's host port": (
        with_port(shape(claim(request()))),
        gpus(2),
        (with_port(shape()),),
    ),
    "remove the pod's required anti-affinity": (
        shape(claim(request()), labels={"app": "x"}, pod_anti_affinity=APART),
        gpus(2),
        (shape(labels={"app": "x"}),),
    ),
}


@pytest.mark.parametrize("text", OTHERS)
def test_suggested_edit_is_sufficient(text):
    pod, devices, there = OTHERS[text]
    here = open_node(node(), (devices,), CLASSES, F36, sight=sight_of([pod]))
    for other in there:
        here = place(other, here).node
    (edit,) = suggest_edits(refusal_of(pod, here))
    assert str(edit) == text
    assert isinstance(place(apply_edits([edit], pod), here), Placement)


@given(st.integers(1, 2**50))
def test_amount_of_memory_is_rounded_to_one_that_fits(amount: int) -> None:
    number, unit = amount_text_at_most("memory", amount).split()
    rounded = Fraction(number) * {"GiB": 2**30, "MiB": 2**20, "B": 1}[unit]
    assert amount * Fraction(99, 100) <= rounded <= amount


def random_node(rng: random.Random) -> NodeState:
    devices = [
        device(
            f"d{i}",
            {"x": rng.choice((1, 1, 2))},
            taints=[DeviceTaint(key="broken", value="yes")] if rng.random() < 0.2 else (),
        )
        for i in range(rng.randint(4, 8))
    ]
    taints = [Taint("nvidia.com/gpu", "present")] if rng.random() < 0.4 else []
    labels = {"zone": rng.choice("ab")}
    return opened(
        slice_of(*devices), on=node(labels=labels, taints=taints, cpu=rng.choice((4_000, 64_000)))
    )


def random_pod(rng: random.Random) -> Shape:
    claims = []
    for _ in range(rng.randint(1, 2)):
        requests = [
            request(
                f"r{i}",
                *rng.sample(SELECTORS, rng.choice((0, 0, 1, 2))),
                device_class=rng.choice(("any", "gpu")),
                count=rng.choice((0, 1, 2, 5, 9)),
            )
            for i in range(rng.randint(1, 2))
        ]
        match = rng.choice((None, "gpu.nvidia.com/x", "gpu.nvidia.com/absent"))
        claims.append(claim(*requests, match=match))
    selector = {"zone": "a"} if rng.random() < 0.4 else {}
    return shape(*claims, requests={"cpu": rng.choice((1_000, 6_000))}, node_selector=selector)


def test_suggested_edits_are_sufficient_and_minimal():
    rng, seen, sizes = random.Random(20), 0, []
    while seen < INSTANCES:
        fresh, pod = random_node(rng), random_pod(rng)
        here = fresh
        for _ in range(rng.randint(0, 2)):
            other = place(shape(claim(request()), tolerations=()), here)
            here = other.node if isinstance(other, Placement) else here
        verdict = place(pod, here)
        if not isinstance(verdict, Refusal):
            continue
        seen += 1
        edits = suggest_edits(verdict, fresh)
        sizes.append(len(edits))
        assert edits, reasons_of(verdict)
        assert fits_with(edits, pod, here, fresh)
        for size in range(len(edits)):
            for part in combinations(edits, size):
                assert not fits_with(part, pod, here, fresh), (edits, part)
    assert max(sizes) >= 3


def fits_with(edits: tuple[Edit, ...], pod: Shape, here: NodeState, fresh: NodeState) -> bool:
    on = fresh if any(e.kind == "add-node" for e in edits) else here
    return isinstance(place(apply_edits(edits, pod), on), Placement)


MEMORY = "device.capacity['gpu.nvidia.com'].memory"
PRODUCT = "device.attributes['gpu.nvidia.com'].productName"


def l40(name="gpu-0", product="NVIDIA A100-SXM4-40GB", memory="40Gi"):
    return slice_of(device(name, {"productName": product, "x": 1}, capacity={"memory": memory}))


@pytest.mark.parametrize(
    ("selector", "instead"),
    [
        (f'{MEMORY}.isGreaterThan(quantity("40Gi"))', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
        (f'{MEMORY}.compareTo(quantity("40Gi")) > 0', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
        (f'{MEMORY}.isLessThan(quantity("40Gi"))', f'{MEMORY}.compareTo(quantity("40Gi")) <= 0'),
        ("device.attributes['gpu.nvidia.com'].x > 1", "device.attributes['gpu.nvidia.com'].x >= 1"),
        (
            f'{MEMORY}.compareTo(quantity("42Gi")) >= 0',
            f'{MEMORY}.compareTo(quantity("40Gi")) >= 0',
        ),
        (f'{MEMORY}.isGreaterThan(quantity("42Gi"))', f'{MEMORY}.compareTo(quantity("40Gi")) >= 0'),
        (f"{PRODUCT} == 'A100-SXM4-40GB'", f"{PRODUCT} == 'NVIDIA A100-SXM4-40GB'"),
        (f'{PRODUCT} == "nvidia a100 sxm4 40GB"', f'{PRODUCT} == "NVIDIA A100-SXM4-40GB"'),
    ],
)
def test_likely_misspelled_condition_is_rewritten_as_published(selector, instead):
    here, pod = opened(l40()), shape(claim(request("r", f"{SELECTORS[0]} && {selector}")))
    refusal = refusal_of(pod, here)
    (edit,) = suggest_edits(refusal)
    text = replacement_text(selector, instead)
    assert str(edit) == f'{text} in request "r"'
    assert [r.fix for r in reasons_of(refusal)] == [text]
    assert isinstance(
        place(shape(claim(request("r", f"{SELECTORS[0]} && {instead}"))), here), Placement
    )


def test_another_device_size_is_not_suggested_as_a_spelling():
    selector = f"{PRODUCT} == 'NVIDIA A100-SXM4-80GB'"
    (edit,) = suggest_edits(refusal_of(shape(claim(request("r", selector))), opened(l40())))
    assert edit.kind == "drop-selector"


def test_only_failing_conditions_are_quoted_and_removed():
    fails, passes = f"{PRODUCT}.contains('B200')", f'{MEMORY}.compareTo(quantity("30Gi")) >= 0'
    refusal = refusal_of(
        shape(claim(request("r", f"{passes} && {fails} && {SELECTORS[0]}"))), opened(l40())
    )
    (edit,) = suggest_edits(refusal)
    assert str(edit) == f'remove `{fails}` from request "r"'
    changed = apply_edits([edit], refusal.shape).claims[0].spec.requests[0].exactly
    assert [each.expression for each in changed.selectors] == [f"{passes} && {SELECTORS[0]}"]
    (reason,) = reasons_of(refusal)
    assert (
        reason.message
        == "the pod requests 1 device, but the node's only device doesn't match, because "
        f"`{fails}` is false (productName: NVIDIA A100-SXM4-40GB)"
    )
    assert reason.fix == f"remove `{fails}`"


def test_constraint_over_pairs_is_written_once_per_pair():
    """Four GPUs and four NICs under one root each: no eight devices share a root, but each pair
    does.
    """
    root = "resource.kubernetes.io/pcieRoot"
    devices = [device(f"gpu-{n}", {root: f"root-{n}", "x": 1}) for n in range(4)]
    devices += [device(f"nic-{n}", {root: f"root-{n}", "x": 2}) for n in range(4)]
    kind = "device.attributes['gpu.nvidia.com'].x == {}"
    both = [request(name, kind.format(x), count=4) for name, x in (("gpus", 1), ("nics", 2))]
    here = opened(slice_of(*devices))
    pod = shape(claim(*both, match=root))

    refusal = refusal_of(pod, here)
    (edit,) = suggest_edits(refusal)

    assert edit.kind == "constrain-pairs"
    assert [each.fix for each in reasons_of(refusal)] == [str(edit)]
    assert str(edit) == (
        "split each of the requests gpus and nics in claim c1 into 4 requests for one "
        f"device each, and add a matchAttribute constraint on {root} for each group of split "
        "requests"
    )
    changed = apply_edits([edit], pod)
    (made,) = changed.claims
    assert [each.requests for each in made.spec.constraints] == [
        (f"gpus-{n}", f"nics-{n}") for n in range(4)
    ]
    assert isinstance(place(changed, here), Placement)
