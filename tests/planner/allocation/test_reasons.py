"""The messages if a pod doesn't fit, or if that's unknown."""

from __future__ import annotations

import os
from pathlib import Path

from allocation_builders import (
    CLASSES,
    DRIVER,
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
    explain,
    open_node,
    place,
    reasons_of,
)
from dra_planner.model import AllocatedDevice, DeviceTaint, ResourceSlice, Unknown
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of

GOLDEN = Path(__file__).parent / "golden" / "reasons.txt"
GPU = 'device.attributes["gpu.nvidia.com"]'
F36 = features_of(36)


def opened(*slices: ResourceSlice, taken: tuple[str, ...] = (), **node_fields) -> NodeState:
    held = [AllocatedDevice(request="r", driver=DRIVER, pool="n1", device=name) for name in taken]
    return open_node(node(**node_fields), slices, CLASSES, F36, allocated=held)


def three_kinds() -> ResourceSlice:
    kinds = ["Hopper"] * 8 + ["Ada Lovelace"] * 8 + ["Volta"] * 8
    return slice_of(*(device(f"gpu-{i}", {"architecture": kind}) for i, kind in enumerate(kinds)))


def reasons(pod, here: NodeState) -> list[str]:
    verdict = place(pod, here)
    assert isinstance(verdict, Refusal | Undecided)
    return [
        f"{r.code}: {r.message}" + (f" → {r.fix}" if r.fix else "") for r in reasons_of(verdict)
    ]


def gpu(*selectors: str, **more):
    return claim(request("gpu", *selectors, device_class="gpu", **more))


CASES = {
    "devices taken, others of another kind": (
        shape(gpu(f'{GPU}.architecture == "Volta"')),
        opened(three_kinds(), taken=tuple(f"gpu-{i}" for i in range(16, 24))),
    ),
    "no device of that kind": (
        shape(gpu(f'{GPU}.architecture == "Blackwell"')),
        opened(three_kinds()),
    ),
    "no devices at all": (
        shape(gpu()),
        opened(),
    ),
    "more than a node has": (
        shape(gpu(count=9)),
        opened(gpus(8)),
    ),
    "a tainted device": (
        shape(gpu()),
        opened(slice_of(device("a", taints=[DeviceTaint(key="broken", value="yes")]))),
    ),
    "capacity": (
        shape(gpu(capacity={"memory": Quantity.parse("90Gi")})),
        opened(slice_of(device("a", capacity={"memory": "80Gi"}))),
    ),
    "hardware behind a partition in use": (
        shape(gpu(f'{GPU}.type == "half"')),
        opened(
            counters(memory=40),
            slice_of(
                device("full", {"type": "full"}, draws={"memory": 40}),
                device("half", {"type": "half"}, draws={"memory": 20}),
                slice_count=2,
            ),
            taken=("full",),
        ),
    ),
    "claims that fit one by one": (
        shape(gpu(count=5), gpu(count=5)),
        opened(gpus(8)),
    ),
    "values that is known only at run time": (
        shape(gpu(f'{GPU}.brand == "Tesla"')),
        opened(slice_of(device("a", {"brand": Unknown()}))),
    ),
    "a selector that does not compile": (
        shape(gpu('device.capacity["gpu.nvidia.com"].memory >= quantity("40Gi")')),
        opened(gpus(1)),
    ),
    "memory": (
        shape(requests={"memory": 300 * GI}),
        opened(),
    ),
}


def test_reasons_match_the_golden_file():
    """After a change on purpose: REWRITE_GOLDEN=1, and read the difference."""
    text = "".join(
        f"# {name}\n" + "".join(f"{line}\n" for line in reasons(*case)) + "\n"
        for name, case in CASES.items()
    )
    if os.environ.get("REWRITE_GOLDEN"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()


def test_fit_and_rejection_are_explained_per_alternative():
    pod = shape(claim(first_of("gpu", ("any", 2), ("any", 1)), match="gpu.nvidia.com/root"))
    here = opened(slice_of(device("a", {"root": "r1"}), device("b", {"root": "r2"})))
    explanation = explain(pod, here)
    assert isinstance(explanation.verdict, Placement)
    assert [(request, str(device)) for _, request, device in explanation.picks] == [
        ("gpu/b", "gpu.nvidia.com/n1/a")
    ]
    (report,) = explanation.claims
    assert [(way.request, way.wanted, way.left) for way in report.requests[0]] == [
        ("gpu/a", 2, 2),
        ("gpu/b", 1, 2),
    ]
    assert report.constraints[0].groups == (("r1", 1), ("r2", 1))

    refused = explain(shape(claim(request(count=3))), here)
    assert isinstance(refused.verdict, Refusal)
    assert refused.claims[0].requests[0][0].shortfall == 1
