"""`--watch`: run a subcommand again whenever one of its files changes.

The operating system reports changes, so this process only waits between runs. Every run is a new
process that reads all files again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.installation import extra_command
from dra_planner.sources import CONFIGURATION


def watch(words: Sequence[str], values: argparse.Namespace) -> int:
    """Run the subcommand now and after each change, until interrupted; return the status of the
    last run.

    Raises UsageError without watchfiles, and if there are no files to watch.
    """
    try:
        from watchfiles import watch as changes_of  # noqa: PLC0415  (an optional extra)
    except ImportError:
        raise UsageError(
            "--watch needs the Python package watchfiles, which isn't installed",
            fix=f"run {extra_command('watch')}",
        ) from None
    if "-" in values.paths or str(values.observed or "").startswith("context:"):
        raise UsageError(
            "--watch supports only files, not standard input or a running cluster",
            fix="pass files or folders",
        )
    folders = watched_paths(values)
    if not folders:
        raise UsageError(
            "--watch needs files to watch", fix="pass files or folders, --fleet, or --stack"
        )
    line = [
        sys.executable,
        "-P",
        "-m",
        "dra_command",
        *(word for word in words if word != "--watch"),
    ]
    status = subprocess.run(line, check=False).returncode
    print(f"watching {', '.join(folders)} (press Ctrl+C to stop)", file=sys.stderr, flush=True)
    for changes in changes_of(*folders, raise_interrupt=False):
        names = sorted({os.path.relpath(path) for _, path in changes})
        print(
            f"\n{names[0]}{f' and {len(names) - 1} more' if names[1:] else ''} changed",
            file=sys.stderr,
            flush=True,
        )
        status = subprocess.run(line, check=False).returncode
    return status


def watched_paths(values: argparse.Namespace) -> list[str]:
    """Return the files and folders that a run reads, if the options name them.

    With a stack, its whole project is watched, because the stack's settings name its workloads.
    """
    named = [*values.paths, values.fleet or "", values.observed or ""]
    if values.stack:
        named.append(".")
    found = [path for path in named if path and Path(path).exists()]
    if Path(CONFIGURATION).exists():
        found.append(CONFIGURATION)
    return list(dict.fromkeys(found))
