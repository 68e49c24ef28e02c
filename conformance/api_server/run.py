"""Compare the manifest reader, and all objects that this project creates in clusters, with real API
servers.

    python conformance/api_server/run.py                       all minor versions, all checks
    python conformance/api_server/run.py --minor 36 --count 2000 --seed 7 --check reader
    python conformance/api_server/run.py --minor 36 --record   store responses for the tests of the
                                                               planner
    python conformance/api_server/run.py --minor 36 --sample   golden slices, examples, and a few
                                                               hundred documents

The exit status is 1 if there is a difference. One difference of each kind is reduced to a small
document and printed.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

from client import Client
from declared_objects import check_declared, check_rewritten
from differential import Difference, differences, populate, record
from features import GATE_SETS
from predictions import Refused, check_slices

from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.tools.kubernetes import MODULES
from generate import changed_workloads, documents, written

CHECKS: Final = ("reader", "workloads", "slices", "objects")
RECORDED: Final = (
    Path(__file__).resolve().parents[2] / "tests" / "planner" / "manifests" / "recorded"
)
# kind of field validation → the number of documents, as a share of --count
MODES: Final = {"Strict": 1.0, "Ignore": 0.25, "Apply": 0.25}
SAMPLE_COUNT: Final = 300
SHOWN: Final = 25
WAIT: Final = 600.0  # seconds until a server is ready on a busy machine


def main() -> int:
    arguments = _arguments()
    failed = False
    for minor in arguments.minor or MODULES:
        for name in arguments.gates:
            features, gates = GATE_SETS[name](minor)
            if name != "default" and not gates:
                continue
            started = time.monotonic()
            with control_plane(
                Settings(minor, gates, scheduling=False), within_seconds=WAIT
            ) as plane:
                client = Client(ApiServer.of(plane))
                populate(client)
                title = f"{plane.version}, gates {name}"
                print(f"{title}: ready after {time.monotonic() - started:.0f} s", flush=True)
                failed |= _check(client, features, title, name, arguments)
    return int(failed)


def _check(
    client: Client, features: Any, title: str, gates: str, arguments: argparse.Namespace
) -> bool:
    found: list[Any] = []
    if arguments.record:
        count = record(client, features.minor, RECORDED / f"workloads-1.{features.minor}.jsonl.gz")
        print(f"{title}: stored {count} responses")
        return False
    checks = [check for check in CHECKS if check in (arguments.check or CHECKS)]
    if "objects" in checks and gates == "default":
        found += _print_outcome(
            f"{title}: objects of components and examples", check_declared(client, features.minor)
        )
        found += _print_outcome(
            f"{title}: rewritten manifests", check_rewritten(client, features, arguments.seed)
        )
    if "slices" in checks and gates == "default":
        found += _print_outcome(
            f"{title}: predicted slices",
            check_slices(client, features.minor, golden_only=arguments.sample),
        )
    made = {"reader": documents, "workloads": changed_workloads}
    for check in [check for check in checks if check in made]:
        for mode, part in MODES.items():
            count = round(arguments.count * part)
            seeds = (
                [arguments.seed]
                if arguments.only_seed
                else [arguments.seed, secrets.randbelow(1_000_000)]
            )
            for seed in seeds:
                label = f"{title}: {check}, {count} documents, {mode}, seed {seed}"
                found += _print_outcome(
                    label, differences(client, features, seed, count, mode, SHOWN, made[check])
                )
    return bool(found)


def _print_outcome(
    label: str, outcome: tuple[Iterable[Refused | Difference], Mapping[str, int]]
) -> list[Any]:
    """Print the result of a check, and return it."""
    found, counts = list(outcome[0]), Counter(outcome[1])
    for each in found[:SHOWN]:
        if isinstance(each, Difference):
            print(f"{each.mode} {written(each.document)[:2000]}\n    {each.reason[:1000]}\n")
        else:
            print(f"{each.name[:2000]}\n    {each.reason[:1000]}\n")
    listed = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    print(
        f"{label}: {len(found)} "
        f"{'kinds of difference' if 'differences' in counts else 'differences'} ({listed})"
    )
    sys.stdout.flush()
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor",
        type=int,
        action="append",
        choices=tuple(MODULES),
        help="minor version of Kubernetes; can be repeated",
    )
    parser.add_argument(
        "--check", action="append", choices=CHECKS, help="run only this check; can be repeated"
    )
    parser.add_argument(
        "--gates",
        action="append",
        choices=tuple(GATE_SETS),
        help="set of feature gates; default: all sets",
    )
    parser.add_argument(
        "--count", type=int, default=4000, help="random documents per seed (default %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="fixed seed; a new seed is used as well"
    )
    parser.add_argument("--only-seed", action="store_true", help="use only the fixed seed")
    parser.add_argument(
        "--record", action="store_true", help="store the server's responses to changed workloads"
    )
    parser.add_argument("--sample", action="store_true", help="run a short sample, as in CI")
    arguments = parser.parse_args()
    arguments.gates = arguments.gates or (["default"] if arguments.sample else list(GATE_SETS))
    if arguments.sample:
        arguments.count = min(arguments.count, SAMPLE_COUNT)
    return arguments


if __name__ == "__main__":
    sys.exit(main())
