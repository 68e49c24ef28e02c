"""Speed of allocation: single calls, compared with upstream's allocator in Go.

Every figure is a ratio or a rate within this run. The Go allocator is measured only if its program
has already been built (conformance/allocation/run.py builds it).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "conformance" / "allocation"))

import answer  # noqa: E402  (needs the path above)
import referee  # noqa: E402
from dra_planner.allocation.search.depth_first import search_devices  # noqa: E402
from dra_planner.allocation.search.requests import plan_claims  # noqa: E402

Json = dict[str, Any]
MINOR = 36
DRIVER = "gpu.nvidia.com"


def device(number: int, attributes: Json, **more: Any) -> Json:
    return {
        "name": f"d{number}",
        "attributes": attributes,
        "capacity": {"memory": {"value": "80Gi"}},
        **more,
    }


def case(
    name: str,
    devices: list[Json],
    requests: list[Json],
    sets: list[Json] | None = None,
    **devices_spec: Any,
) -> Json:
    pool = {
        "name": "n1",
        "generation": 1,
        "resourceSliceCount": (len(devices) + 63) // 64 + bool(sets),
    }
    slices = [
        {
            "metadata": {"name": f"s{i}"},
            "spec": {
                "driver": DRIVER,
                "nodeName": "n1",
                "pool": pool,
                "devices": devices[i * 64 : i * 64 + 64],
            },
        }
        for i in range((len(devices) + 63) // 64)
    ]
    if sets:
        spec = {"driver": DRIVER, "nodeName": "n1", "pool": pool, "sharedCounters": sets}
        slices.append({"metadata": {"name": "z"}, "spec": spec})
    gate = (
        "AdminAccess",
        "PrioritizedList",
        "PartitionableDevices",
        "DeviceTaints",
        "ConsumableCapacity",
    )
    return {
        "id": name,
        "features": dict.fromkeys((*gate, "DeviceBindingAndStatus"), True),
        "classes": [
            {
                "metadata": {"name": "gpu"},
                "spec": {"selectors": [_cel(f'device.driver == "{DRIVER}"')]},
            }
        ],
        "slices": slices,
        "nodes": [{"metadata": {"name": "n1"}}],
        "claims": [
            {
                "metadata": {"name": "c", "namespace": "ns"},
                "spec": {"devices": {"requests": requests, **devices_spec}},
            }
        ],
        "allocated": [],
        "repeat": 200,
    }


def _cel(expression: str) -> Json:
    return {"cel": {"expression": expression}}


def request(name: str, count: int = 1, *selectors: str) -> Json:
    return {
        "name": name,
        "exactly": {
            "deviceClassName": "gpu",
            "count": count,
            "selectors": [_cel(s) for s in selectors],
        },
    }


def partitions() -> tuple[list[Json], list[Json]]:
    """Eight boards of seven partitions each."""
    sets = [
        {"name": f"g{g}", "counters": {f"s{i}": {"value": "1"} for i in range(7)}} for g in range(8)
    ]
    devices = [
        device(
            g * 7 + i,
            {"type": {"string": "mig"}, "board": {"int": g}},
            consumesCounters=[{"counterSet": f"g{g}", "counters": {f"s{i}": {"value": "1"}}}],
        )
        for g in range(8)
        for i in range(7)
    ]
    return devices, sets


def cases() -> list[Json]:
    read = f'device.attributes["{DRIVER}"]'
    mig, sets = partitions()
    scattered = [device(i, {"root": {"int": i // 2}, "x": {"int": i}}) for i in range(16)]
    hard = [device(i, {"x": {"int": i % 7}, "y": {"int": i % 5}}) for i in range(18)]
    return [
        case(
            "single claim, 8 GPUs",
            [device(i, {"type": {"string": "gpu"}}) for i in range(8)],
            [request("r", 1, f'{read}.type == "gpu"')],
        ),
        case("56 MIG partitions", mig, [request("r", 8, f'{read}.type == "mig"')], sets),
        case(
            "256 devices",
            [device(i, {"x": {"int": i}}) for i in range(256)],
            [request("r", 4, f"{read}.x >= 250")],
        ),
        case(
            "16 GPUs, 4 on one root: none",
            scattered,
            [request("r", 4)],
            constraints=[{"matchAttribute": f"{DRIVER}/root"}],
        ),
        case(
            "hard backtracking",
            hard,
            [request("a", 5, f"{read}.x != 3"), request("b", 1, f"{read}.x == 9")],
        ),
    ]


def measure(call: Callable[[], object], seconds: float = 0.5) -> float:
    """Seconds per call."""
    call()
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        call()
        calls += 1
    return (time.perf_counter() - start) / calls


def single_calls() -> None:
    made = cases()
    try:
        theirs = {a["id"]: a.get("nanos", 0) / 1e9 for a in referee.ask(MINOR, made)}
    except (OSError, subprocess.SubprocessError, SystemExit):
        theirs = {}
    print(
        f"{'single calls':34}{'warm /s':>10}{'cold /s':>10}{'Go /s':>10}{'warm / Go':>11}{'cold / Go':>11}"
    )
    for one in made:
        state, claims = answer.open_case(one, MINOR)
        template = state.template
        plan = plan_claims(claims, template)
        warm = measure(
            lambda s=state, p=plan: search_devices(s.template, p, s.template.behaviour, s.taken, {})
        )
        cold = measure(lambda s=state, c=claims: _cold(s, c))
        go = theirs.get(one["id"], 0)
        ratio = (f"{warm / go:10.1f}×", f"{cold / go:10.1f}×") if go else ("", "")
        print(
            f"{one['id']:34}{1 / warm:10.0f}{1 / cold:10.0f}{1 / go if go else 0:10.0f}{ratio[0]:>11}{ratio[1]:>11}"
        )


def _cold(state: Any, claims: Any) -> object:
    """Allocate new claims, for which the selectors are evaluated again."""
    state.template.memory.clear()
    plan = plan_claims(claims, state.template)
    return search_devices(state.template, plan, state.template.behaviour, state.taken, {})


if __name__ == "__main__":
    single_calls()
