"""A Dask scheduler and four workers in separate processes. The test kills two of the workers during
the run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from generated_portfolios import write_portfolio
from msgspec import Struct

from dra_command.portfolio.computation.execution import (
    PortfolioAnswers,
    RunLog,
    RunOptions,
    run_portfolio,
)
from dra_command.portfolio.input_collection import collect
from dra_planner.errors import PlannerError

pytestmark = pytest.mark.programs

WORKERS = 4
SECONDS_TO_START = 180


class Started(Struct):
    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Started]:
    """Start a Dask scheduler and four workers that only use the installed packages."""
    environment = {**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "True"}
    where = tmp_path / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "dask",
            *words,
            "--scheduler-file",
            str(where),
            "--no-dashboard",
        ]
        started.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return started[-1]

    scheduler = start("scheduler", "--port", "0", "--host", "127.0.0.1")
    workers = [start("worker", "--nthreads", "1", "--no-nanny") for _ in range(WORKERS)]
    try:
        yield Started(_address(where), scheduler, workers)
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _address(where: Path) -> str:
    """Return the scheduler's address when all workers have joined it."""
    from distributed import Client

    until = time.monotonic() + SECONDS_TO_START
    while not where.exists() and time.monotonic() < until:
        time.sleep(0.2)
    with Client(scheduler_file=str(where), timeout=SECONDS_TO_START) as client:
        client.wait_for_workers(WORKERS, timeout=SECONDS_TO_START)
        return str(client.scheduler.address)


def answers_of(file: Path, results: str, **options: object) -> PortfolioAnswers:
    return run_portfolio(collect(str(file)), RunOptions(results=file.parent / results, **options))  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore")  # messages of Dask when workers end
def test_no_results_are_missing_after_two_workers_are_killed(
    tmp_path: Path, cluster: Started
) -> None:
    file = write_portfolio(tmp_path / "p", 40, 7)
    killed: list[int] = []

    def kill(log: RunLog) -> None:
        if len(killed) < 2 and log.computed >= 40 * (1 + len(killed)):
            victim = cluster.workers[len(killed)]
            killed.append(victim.pid)
            victim.kill()

    options = RunOptions(results=tmp_path / "results", scheduler=cluster.address)
    answers = run_portfolio(collect(str(file)), options, kill)
    alone = answers_of(file, "alone", engine="here")
    assert len(killed) == 2
    assert answers.log.computed == 320
    assert [answers.row(cell) for cell in answers.cells] == [
        alone.row(cell) for cell in alone.cells
    ]


@pytest.mark.filterwarnings("ignore")
def test_worker_of_another_version_or_lost_scheduler_is_reported(
    tmp_path: Path, cluster: Started, monkeypatch: pytest.MonkeyPatch
) -> None:

    from dra_command.portfolio.computation import execution

    file = write_portfolio(tmp_path / "p", 12, 3)
    with monkeypatch.context() as patch:
        patch.setattr(execution, "planner_digest", lambda: "another")
        with pytest.raises(PlannerError, match="different version of pulumi-dra") as error:
            answers_of(file, "refused", scheduler=cluster.address)
    assert error.value.fix == "install the same wheel on every worker"

    def kill(log: RunLog) -> None:
        if log.computed:
            cluster.scheduler.kill()

    options = RunOptions(results=tmp_path / "results", scheduler=cluster.address)
    # workers with the same planner version ran cells before
    with pytest.raises(PlannerError, match="stopped; run the same command to continue") as gone:
        run_portfolio(collect(str(file)), options, kill)
    assert gone.value.fix == "run the same command to continue with the unfinished cells"
    assert answers_of(file, "../results", engine="here").log.known >= 4


@pytest.mark.filterwarnings("ignore")
def test_unresponsive_scheduler_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    from dra_command.portfolio.computation.engines import dask_cluster

    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 2)
    file = write_portfolio(tmp_path / "p", 1, 0)
    with pytest.raises(PlannerError, match="the Dask scheduler"):
        answers_of(file, "results", scheduler="tcp://127.0.0.1:9")


@pytest.mark.filterwarnings("ignore")
def test_fix_for_a_scheduler_without_workers_works(
    tmp_path: Path,
) -> None:
    where = tmp_path / "scheduler.json"
    file = write_portfolio(tmp_path / "p", 1, 0)
    port = _free_port()
    with pytest.raises(PlannerError, match="the Dask scheduler") as error:
        answers_of(file, "results", scheduler=f"tcp://127.0.0.1:{port}")
    assert error.value.fix == "start a scheduler: dask scheduler"
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> None:
        command = [sys.executable, "-m", "dask", *words]
        started.append(
            subprocess.Popen(
                command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )

    words = error.value.fix.partition(": dask ")[2].split()
    start(
        *words,
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
        "--scheduler-file",
        str(where),
        "--no-dashboard",
    )
    try:
        until = time.monotonic() + SECONDS_TO_START
        while (
            not (where.exists() and where.read_text().strip().endswith("}"))
            and time.monotonic() < until
        ):
            time.sleep(0.2)
        address = json.loads(where.read_text())["address"]
        assert address == f"tcp://127.0.0.1:{port}"
        with pytest.raises(PlannerError, match="doesn't have workers") as error:
            answers_of(file, "results", scheduler=address)
        assert error.value.fix == f"start workers: dask worker {address}"
        start(
            *error.value.fix.partition(": dask ")[2].split(),
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        )
        while time.monotonic() < until:
            try:
                answers = answers_of(file, "results", scheduler=address)
                break
            except PlannerError:
                time.sleep(0.5)
        assert [
            row.outcome for cell in answers.cells if (row := answers.row(cell)) is not None
        ] == ["fits"]
    finally:
        for process in started:
            process.kill()
            process.wait(timeout=30)
