"""Ctrl-C and sudden ends, with every engine: completed results are stored, and no process
remains.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from generated_portfolios import write_portfolio

from dra_command.command_line.exit_status import Status

pytestmark = pytest.mark.programs

SECONDS = 240
COMMAND = [sys.executable, "-m", "dra_command", "portfolio"]


def started(file: Path, engine: str) -> subprocess.Popen[str]:
    """Start a portfolio in a separate process group, as a terminal does."""
    return subprocess.Popen(
        [*COMMAND, str(file), "--engine", engine, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=file.parent,
    )


def wait_until(what: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def has_answers(file: Path) -> bool:
    return any((file.parent / ".pulumi-dra" / file.stem).glob("part-*.parquet"))


def is_alone(group: int) -> bool:
    """Return whether no process of a group runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("engine", ["dask", "processes"])
def test_interrupt_reaches_every_process_and_results_are_kept(tmp_path: Path, engine: str) -> None:
    file = write_portfolio(tmp_path / "p", 100, 49)
    process = started(file, engine)
    wait_until(lambda: has_answers(file))
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == Status.INTERRUPTED
    assert err.startswith("interrupted after ")
    assert err.endswith(" of 5000 cells; to continue from this point, run the same command\n")
    assert "not computed" in out
    wait_until(lambda: is_alone(process.pid))
    kept = int(err.split()[2])
    assert 0 < kept < 5000
    again = subprocess.run(
        [*COMMAND, str(file), "--sample", "1%"], capture_output=True, text=True, check=False
    )
    assert (
        f"{5000 - kept:,} cells aren't computed yet" in again.stdout
        or f"{kept:,} cached" in again.stdout
    )


def test_workers_exit_if_their_run_is_killed(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 100, 49)
    process = started(file, "processes")
    wait_until(lambda: has_answers(file))
    process.kill()
    process.communicate(timeout=SECONDS)
    wait_until(lambda: is_alone(process.pid))
    assert process.returncode == -signal.SIGKILL
    assert has_answers(file)
