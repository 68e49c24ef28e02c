"""Define the command-line arguments of programs that compare random clusters with real control
planes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from dra_planner.releases import RELEASES


def cluster_arguments(description: str | None) -> argparse.Namespace:
    """Return `minor`, `count`, `seed`, `record`, and `failures` from the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor", type=int, action="append", choices=tuple(RELEASES), help="can be repeated"
    )
    parser.add_argument(
        "--count", type=int, default=20, help="cases for each minor version; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=1, help="first seed; default: %(default)s")
    parser.add_argument(
        "--record", type=Path, metavar="FOLDER", help="folder for the records of all cases"
    )
    parser.add_argument(
        "--failures", type=Path, default=Path("scheduler-failures"), metavar="FOLDER"
    )
    return parser.parse_args()
