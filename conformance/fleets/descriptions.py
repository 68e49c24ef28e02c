"""Read a folder with descriptions of clusters by other tools, and print the result for each file.

    .venv/bin/python conformance/fleets/descriptions.py FOLDER [--region us-east-1]

FOLDER contains Terraform plans and states in JSON, Karpenter NodePools, eksctl files, and Cluster
API objects. The result is *read* if a file becomes a fleet, *named* if the message states which
part isn't supported, and *other* if the file is of a different kind. Any other result is a fault.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter
from pathlib import Path

from msgspec import Struct

from dra_command.inputs.fleets.fleet_files import read_other_tools_fleet
from dra_planner.errors import PlannerError
from dra_planner.fleet_sources import ImportedFleet
from dra_planner.fleet_sources.document import NOT_SET


class Outcome(Struct, frozen=True):
    """The result for one file: its kind, and the pools, a reason, or a fault."""

    kind: str
    lines: tuple[str, ...] = ()


def outcome_of(path: Path, region: str) -> Outcome:
    """Return the result for a file. `region` is used for files that don't contain a region."""
    try:
        found = _read(path, region)
    except PlannerError as error:
        reason = str(error).replace(f"{path}: ", "")
        return Outcome("named", (reason,))
    except Exception:
        return Outcome("fault", tuple(traceback.format_exc(limit=-3).splitlines()))
    if found is None:
        return Outcome("other")
    pools = [
        f"{pool.name}: {pool.machine}, {pool.count.min} to {pool.count.max} nodes"
        for pool in found.fleet.pools
    ]
    return Outcome("read", (*pools, *(f"note: {note}" for note in found.notes)))


def _read(path: Path, region: str) -> ImportedFleet | None:
    try:
        return read_other_tools_fleet(str(path))
    except PlannerError as error:
        if error.message != NOT_SET.format("region"):
            raise
        return read_other_tools_fleet(str(path), region=region)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--region", default="us-east-1")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    for path in sorted(each for each in given.folder.rglob("*") if each.is_file()):
        outcome = outcome_of(path, given.region)
        counts[outcome.kind] += 1
        print(f"{path.relative_to(given.folder)}: {outcome.kind}")
        for line in outcome.lines:
            print(f"    {line}")
    print(f"{counts.total()} files: {dict(sorted(counts.items()))}")
    return 1 if counts["fault"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
