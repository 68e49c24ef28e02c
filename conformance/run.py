"""Compare this project with upstream Kubernetes code on the same inputs, and fail at the first
difference.

    python conformance/run.py                everything: 20 000 random cases for each minor version,
                                             upstream's own tables, the real API servers and
                                             schedulers
    python conformance/run.py --minor 36     the same for one minor version, and the checks of
                                             commands, SDKs, and charts
    python conformance/run.py --sample       the checks in CI, for the minor version whose servers
                                             the tests also build: a thousand cases, a few hundred
                                             documents for the API server, and a few fleets for the
                                             scheduler, always the same ones

The sample also compares every minor version with stored responses to fixed cases
(conformance/recorded). The command needs the Go module proxy. Go itself is found on PATH, or
installed into the per-user cache.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from dra_planner.releases import RELEASES
from dra_sandbox.tools.go_toolchain import find_go, go_environment

HERE = Path(__file__).parent
ALL_MINORS = tuple(map(str, RELEASES))
SAMPLE_COUNT = "1000"
# number of fleets to rehearse on the real scheduler; tests compare a larger recorded sample
SAMPLE_FLEETS = "4"
# with fixed cases, unchanged code always passes; the complete run also uses new cases
SAMPLE_SEED = "46868"
# a minor version whose servers are also built for tests, because each additional version takes
# minutes to compile
SAMPLE_MINOR = "36"


def main() -> int:
    """Run the checks in order. Return 1 if one of them found a difference."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--sample", action="store_true", help="run a short sample, as in CI")
    kind.add_argument(
        "--minor", action="append", choices=ALL_MINORS, help="can be repeated; default: all"
    )
    given = parser.parse_args()
    go = find_go((1, 26, 0))
    environment = go_environment(
        {**os.environ, "GO": str(go), "PATH": f"{go.parent}{os.pathsep}{os.environ['PATH']}"}
    )
    failed = []
    for check in _sample() if given.sample else _everything(given.minor or ALL_MINORS):
        print(f"== {' '.join(check)}", flush=True)
        started = time.monotonic()
        if subprocess.run(
            [sys.executable, *check], cwd=HERE, env=environment, check=False
        ).returncode:
            failed.append(" ".join(check))
        print(f"   {time.monotonic() - started:.0f} s", flush=True)
    for check in failed:
        print(f"differs from upstream: {check}", file=sys.stderr)
    return int(bool(failed))


def _sample() -> list[list[str]]:
    rooms = (("cel/run.py", ["--costs"]), ("allocation/run.py", ["--no-table"]))
    random = [
        [script, "--minor", SAMPLE_MINOR, "--count", SAMPLE_COUNT, "--seed", SAMPLE_SEED, *more]
        for script, more in rooms
    ]
    random += [[script, "--recorded", *more] for script, more in rooms]
    scheduler = ["scheduler/run.py", "--minor", SAMPLE_MINOR, "--count", SAMPLE_FLEETS]
    scheduler += ["--seed", SAMPLE_SEED]
    reports = ["reports/run.py"]
    api_server = ["api_server/run.py", "--sample", "--only-seed", "--minor", SAMPLE_MINOR]
    return [*random, reports, api_server, scheduler]


def _everything(minors: Sequence[str]) -> list[list[str]]:
    fresh = str(secrets.randbelow(1_000_000))
    random = [
        [f"{room}/run.py", "--minor", minor, "--seed", fresh]
        for minor in minors
        for room in ("cel", "allocation")
    ]
    for check in random:
        if check[0].startswith("cel"):
            check += ["--costs", "--count", "20000"]
    servers = [
        ["api_server/run.py"],
        ["scheduler/run.py"],
        ["scheduler/run.py", "--rules"],
        ["scheduler/preemptions.py"],
        ["scheduler/running_clusters.py", "--seed", fresh],
    ]
    for check in servers:
        check += [word for minor in minors for word in ("--minor", minor)]
    others = [
        ["control_plane/killed_processes.py"],
        ["cel/upstream_table.py"],
        ["cel/language_tests.py"],
        ["sdks/run.py"],
        ["reports/run.py"],
        ["ci/run.py"],
    ]
    others += [["commands/every_input.py"], ["commands/joint_fixes.py"]]
    return [
        *random,
        *servers,
        *others,
        ["karpenter/run.py"],
        ["checkov/run.py"],
        ["charts/run.py"],
        ["previews/run.py"],
        ["day_two/run.py"],
    ]


if __name__ == "__main__":
    sys.exit(main())
