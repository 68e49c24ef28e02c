"""Properties that are true for every node, claim, and device."""

from __future__ import annotations

from allocation_builders import (
    CLASSES,
    claim,
    counters,
    device,
    first_of,
    node,
    request,
    shape,
    slice_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_planner.allocation import NodeState, Placement, Refusal, open_node, place, reasons_of
from dra_planner.allocation.search.amounts import nano
from dra_planner.model import DeviceCapacity, DeviceTaint, DeviceToleration, Shape
from dra_planner.quantity import Quantity
from dra_planner.releases import Features, features_of

SELECTOR = "device.attributes['gpu.nvidia.com'].x == 1"
X = "gpu.nvidia.com/x"
ALL_GATES = features_of(37).with_gates(list_attributes=False)


@st.composite
def devices(draw):
    made = []
    for number in range(draw(st.integers(1, 6))):
        shared = draw(st.booleans())
        capacity = {"memory": DeviceCapacity(Quantity.parse(draw(st.sampled_from(("2", "4")))))}
        made.append(
            device(
                f"d{number}",
                {"x": draw(st.integers(1, 2))},
                capacity=capacity,
                draws={"c": draw(st.integers(1, 2))} if draw(st.booleans()) else None,
                taints=[DeviceTaint(key="k")] if draw(st.integers(0, 4)) == 0 else (),
                allow_multiple_allocations=shared,
            )
        )
    return made


@st.composite
def pods(draw):
    claims = []
    for _ in range(draw(st.integers(1, 2))):
        requests = []
        for number in range(draw(st.integers(1, 2))):
            if draw(st.integers(0, 4)) == 0:
                requests.append(
                    first_of(f"r{number}", ("any", draw(st.integers(1, 3))), ("any", 1))
                )
                continue
            more = (
                {"tolerations": (DeviceToleration(operator="Exists"),)}
                if draw(st.booleans())
                else {}
            )
            if draw(st.booleans()):
                more["capacity"] = {"memory": Quantity.parse("1")}
            selectors = (SELECTOR,) if draw(st.integers(0, 2)) == 0 else ()
            requests.append(
                request(f"r{number}", *selectors, count=draw(st.integers(1, 3)), **more)
            )
        rule = draw(st.sampled_from(("", "match", "distinct")))
        claims.append(
            claim(
                *requests,
                match=X if rule == "match" else None,
                distinct=X if rule == "distinct" else None,
            )
        )
    return shape(*claims, requests={})


def opened(made, features: Features = ALL_GATES, name: str = "n1") -> NodeState:
    where = {"pool": name, "node_name": name}
    slices = [counters(c=4, **where), slice_of(*made, slice_count=2, **where)]
    return open_node(node(name), slices, CLASSES, features)


@given(devices(), st.lists(pods(), min_size=1, max_size=5))
@settings(max_examples=150, deadline=None)
def test_no_device_is_allocated_twice_or_beyond_its_capacity(made, queue):
    state = opened(made)
    taken: list[str] = []
    for pod in queue:
        verdict = place(pod, state)
        if isinstance(verdict, Placement):
            state = verdict.node
            taken += [d.device for d in verdict.devices if not d.share_id]
            _check_claims(pod, verdict)
    assert len(taken) == len(set(taken))
    by_name = {d.name: d for d in made}
    for index, used in state.shares:
        full = by_name[state.template.candidates[index].id.device].capacity
        assert all(amount <= nano(full[name].value) for name, amount in used)
    occupied = {*taken, *(state.template.candidates[i].id.device for i, _ in state.shares)}
    drawn = sum(nano(c.counters["c"]) for n in occupied for c in by_name[n].consumes_counters)
    assert drawn <= 4 * 10**9


def _check_claims(pod: Shape, placement: Placement) -> None:
    candidates = {c.id.device: c for c in placement.node.template.candidates}
    for entry in pod.claims:
        got = placement.claims[entry.name].devices
        values = [candidates[d.device].attributes["x"] for d in got]
        for constraint in entry.spec.constraints:
            wanted = 1 if constraint.match_attribute else len(values)
            assert len(set(values)) == wanted
        for wish in entry.spec.requests:
            mine = [d for d in got if d.request.split("/")[0] == wish.name]
            if wish.exactly is not None:
                assert len(mine) == wish.exactly.count
                if wish.exactly.selectors:
                    assert all(candidates[d.device].attributes["x"] == 1 for d in mine)


@given(devices(), pods())
@settings(max_examples=100, deadline=None)
def test_placing_does_not_change_its_inputs(made, pod):
    state = opened(made)
    before, shape_before = (
        (state.used, state.taken, state.shares, repr(state.template.pools)),
        repr(pod),
    )
    first = place(pod, state)
    assert (state.used, state.taken, state.shares, repr(state.template.pools)) == before
    assert repr(pod) == shape_before
    again = place(pod, opened(made))
    assert type(again) is type(first)
    if isinstance(first, Placement):
        assert first.devices == again.devices


@given(devices(), pods())
@settings(max_examples=60, deadline=None)
def test_every_rejection_has_a_reason(made, pod):
    verdict = place(pod, opened(made))
    if isinstance(verdict, Refusal):
        assert reasons_of(verdict)
        assert all(reason.code and reason.message for reason in reasons_of(verdict))
