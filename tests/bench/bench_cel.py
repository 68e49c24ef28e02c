"""Speed of the CEL engine, compared with celpy's own evaluator in the same run.

    python tests/bench/bench_cel.py

Only the ratios matter, because both engines run on the same machine under the same load. The
hostile selectors come from the tests. Each is compiled for the first time in a process that has
compiled other selectors, and then evaluated. Their ratio is relative to the compilation of the
selector with six terms.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dra_planner.cel import Dialect, Selector, compile, prepare
from dra_planner.releases import features_of

SELECTORS = {
    "driver": 'device.driver == "gpu.nvidia.com"',
    "driver and type": (
        'device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].type == "gpu"'
    ),
    "pattern and memory": (
        'device.attributes["gpu.nvidia.com"].productName.matches("H[0-9]+") && '
        'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
    ),
    "MIG profile": (
        'device.attributes["gpu.nvidia.com"].type == "mig" || '
        'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"'
    ),
    "two versions": (
        'device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("535.0.0")) && '
        'device.attributes["gpu.nvidia.com"].cudaComputeCapability.isGreaterThan(semver("8.0.0"))'
    ),
    "six terms": (
        'device.driver == "gpu.nvidia.com" && has(device.attributes["gpu.nvidia.com"].productName) '
        "&& "
        'device.attributes["gpu.nvidia.com"].architecture in ["Hopper", "Blackwell"] && '
        'device.attributes["gpu.nvidia.com"].exists(k, k == "uuid") && '
        '"memory" in device.capacity["gpu.nvidia.com"] && '
        'device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("40Gi"))'
    ),
}


def device(number: int) -> dict[str, Any]:
    """Return an H100 that differs from the others only in its uuid."""
    return {
        "driver": "gpu.nvidia.com",
        "attributes": {
            "type": {"string": "gpu"},
            "uuid": {"string": f"GPU-{number:08d}"},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "profile": {"string": ""},
            "architecture": {"string": "Hopper"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "driverVersion": {"version": "550.54.15"},
            "index": {"int": 3},
            "resource.kubernetes.io/pcieRoot": {"string": "pci0000:17"},
        },
        "capacity": {"memory": "81559Mi", "multiprocessors": "132"},
    }


def per_second(run: Callable[[], object], seconds: float = 0.4) -> float:
    """Return how often it runs per second."""
    run()
    count, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < seconds:
        for _ in range(20):
            run()
        count += 20
    return count / spent


def celpy_runner(text: str) -> Callable[[], object]:
    """Return an evaluation by celpy, with adapters for functions that celpy doesn't have."""
    import celpy
    from celpy import celtypes

    from dra_planner.cel.libraries.operators import compare_versions
    from dra_planner.cel.libraries.semvers import parse_semver
    from dra_planner.quantity import Quantity

    def is_greater(a: Any, b: Any) -> Any:
        greater = a > b if isinstance(a, Quantity) else compare_versions(a, b) > 0
        return celtypes.BoolType(greater)

    functions: dict[str, Any] = {
        "quantity": lambda text: Quantity.parse(str(text)),
        "semver": lambda text: parse_semver(str(text)),
        "isGreaterThan": is_greater,
        "compareTo": lambda a, b: celtypes.IntType(a.compare(b)),
    }
    plain = json.loads(json.dumps(device(1)))
    attributes: dict[str, Any] = {"gpu.nvidia.com": {}, "resource.kubernetes.io": {}}
    for name, value in plain["attributes"].items():
        domain, _, identifier = name.rpartition("/")
        (kind, content), *_ = value.items()
        attributes[domain or "gpu.nvidia.com"][identifier] = (
            parse_semver(content) if kind == "version" else content
        )
    converted = {
        "device": {
            "driver": "gpu.nvidia.com",
            "attributes": attributes,
            "capacity": {
                "gpu.nvidia.com": {n: Quantity.parse(q) for n, q in plain["capacity"].items()}
            },
        }
    }
    environment = celpy.Environment()
    program = environment.program(environment.compile(text), functions=functions)
    activation = {"device": _to_celpy(converted["device"])}
    return lambda: program.evaluate(activation)


def _to_celpy(value: Any) -> Any:
    from celpy import celtypes

    if isinstance(value, dict):
        return celtypes.MapType({celtypes.StringType(k): _to_celpy(v) for k, v in value.items()})
    if isinstance(value, bool):
        return celtypes.BoolType(value)
    if isinstance(value, int):
        return celtypes.IntType(value)
    return celtypes.StringType(value) if isinstance(value, str) else value


def hostile(dialect: Dialect) -> None:
    """Print the CPU time for compiling and evaluating each hostile selector."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "planner" / "cel"))
    from hostile_selectors import DEVICE, HOSTILE

    usual = 1e3 / per_second(lambda: compile.__wrapped__(SELECTORS["six terms"], dialect))
    rows = []
    for name, (text, _) in HOSTILE.items():
        best = min(_once(text, dialect, DEVICE) for _ in range(3))
        rows.append((sum(best), *best, name))
    print(f"{len(rows)} hostile selectors, the slowest first (six terms: {usual:.2f} ms):")
    for total, compiling, judging, name in sorted(rows, reverse=True):
        print(
            f"{name:46} compile {compiling:6.1f} ms   judge {judging:6.1f} ms   ratio "
            f"{total / usual:6.1f}"
        )
    beyond = sum(total > 100 for total, *_ in rows)
    print(f"hostile selectors beyond 100 ms: {beyond} of {len(rows)}")


def _once(text: str, dialect: Dialect, device: dict[str, Any]) -> tuple[float, float]:
    started = time.process_time()
    selector = compile.__wrapped__(text, dialect)
    compiled = time.process_time()
    if isinstance(selector, Selector):
        selector.matches(device)
    return 1e3 * (compiled - started), 1e3 * (time.process_time() - compiled)


def main() -> int:
    dialect = Dialect.of(features_of(36), "stored")
    started = time.perf_counter()
    compile("true", dialect)
    print(
        f"first compilation, including the parser: {1e3 * (time.perf_counter() - started):.0f} ms"
    )
    prepared = prepare(device(1))
    ratios = []
    for name, text in SELECTORS.items():
        selector = compile(text, dialect)
        assert isinstance(selector, Selector), selector
        assert selector.matches(prepared).verdict in ("match", "no-match"), selector.matches(
            prepared
        )
        compiling = per_second(lambda text=text: compile.__wrapped__(text, dialect))
        ours = per_second(lambda selector=selector: selector.matches(prepared))
        theirs = per_second(celpy_runner(text))
        ratios.append(ours / theirs)
        print(
            f"{name:20} compile {1e3 / compiling:6.2f} ms   evaluate {1e6 / ours:7.2f} us   "
            f"celpy {1e6 / theirs:8.1f} us   ratio {ours / theirs:6.0f}"
        )
    print(f"mean ratio to celpy, without caches: {sum(ratios) / len(ratios):.0f}")
    many = [prepare(device(number)) for number in range(10_000)]
    text = " && ".join(
        f"({t})" for n, t in SELECTORS.items() if n not in ("six terms", "MIG profile")
    )
    selector = compile(text, dialect)
    assert isinstance(selector, Selector)
    groups: dict[Any, list[int]] = {}
    started = time.perf_counter()
    for number, seen in enumerate(many):
        groups.setdefault(selector.projection(seen), []).append(number)
    grouped = time.perf_counter()
    for members in groups.values():
        selector.matches(many[members[0]])
    judged = time.perf_counter()
    print(
        f"10,000 devices that differ in uuid: {len(groups)} group(s) found in "
        f"{1e3 * (grouped - started):.1f} ms, "
        f"judged in {1e3 * (judged - grouped):.2f} ms"
    )
    hostile(dialect)
    return 0


if __name__ == "__main__":
    sys.exit(main())
