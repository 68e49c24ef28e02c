"""Portfolios: CPU time of a run compared with a plain loop, of a second run, and of a run after one
file changed, and the memory of the workers.

    python tests/bench/bench_portfolio.py [STACKS SCENARIOS]

With 200 and 50, it runs the portfolio in the documentation, which takes half an hour. Without
numbers, it runs a small portfolio. It compares the CPU seconds of all processes, because other work
on the machine affects the elapsed time. It reads the CPU seconds and the memory of all child
processes five times per second.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Self

import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "command" / "portfolio"))

from generated_portfolios import write_portfolio

from dra_command.portfolio.computation.execution import RunOptions, run_portfolio
from dra_command.portfolio.input_collection import collect
from dra_planner.plan import Plan
from dra_planner.portfolio.cells import StackCells


class Spent:
    """CPU seconds of this process and its child processes since the context was entered, and the
    memory of the largest child process.

    The measurement itself isn't included.
    """

    def __enter__(self) -> Self:
        self._below: dict[tuple[int, float], float] = {}
        self._before: dict[tuple[int, float], float] = {}
        self.largest_mib = self._watching = 0.0
        self._look()
        self._before = dict(self._below)
        self._own = time.process_time()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._watcher.join()
        own = time.process_time() - self._own - self._watching
        self.seconds = own + sum(self._below.values()) - sum(self._before.values())

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            self._look()
        self._watching = time.thread_time()

    def _look(self) -> None:
        for process in psutil.Process(os.getpid()).children(recursive=True):
            try:
                times, mib = process.cpu_times(), process.memory_info().rss / 2**20
            except psutil.NoSuchProcess:
                continue
            self._below[process.pid, process.create_time()] = times.user + times.system
            self.largest_mib = max(self.largest_mib, mib)


def plain_loop(file: Path) -> int:
    """Plan all cells one after the other, without a cache."""
    collected = collect(str(file))
    plans: list[Plan] = []
    for inputs in collected.stacks:
        cells = StackCells(inputs, collected.portfolio.ask)
        plans = [cells.plan(future)[0] for future in collected.futures]
    return len(plans)


def measured(what: str, file: Path, results: Path, engine: str) -> float:
    """Run a command, print its CPU seconds, and return them."""
    began = time.monotonic()
    options = RunOptions(results=results, engine=engine, workers=0 if engine == "here" else 2)
    with Spent() as spent:
        log = run_portfolio(collect(str(file)), options).log
    largest = f", largest worker {spent.largest_mib:.0f} MiB" if spent.largest_mib else ""
    print(
        f"{what}: {log.computed} computed, {log.known} known, {spent.seconds:.2f} s of CPU in "
        f"total, {log.cpu_seconds:.2f} s for the cells, {time.monotonic() - began:.1f} s{largest}",
        flush=True,
    )
    return spent.seconds


def main() -> None:
    """Print the measurements. Before measuring, the loop runs for one stack to warm up."""
    stacks, scenarios = (int(word) for word in (sys.argv[1:] or ["20", "10"]))
    with tempfile.TemporaryDirectory() as folder:
        file = write_portfolio(Path(folder) / "p", stacks, scenarios - 1)
        warm = write_portfolio(Path(folder) / "warm", 1, 1)
        plain_loop(warm)
        before = time.process_time()
        plain_loop(file)
        loop = time.process_time() - before
        cells = stacks * scenarios
        print(f"plain loop: {cells} cells, {loop:.2f} s of CPU, {loop / cells * 1000:.2f} ms each")
        for engine in ("here", "processes", "dask"):
            start = measured(f"{engine}, 2 cells", warm, Path(folder) / f"{engine}-start", engine)
            spent = measured(engine, file, Path(folder) / engine, engine)
            print(
                f"  throughput per core: {loop / spent:.1%} of the loop's, "
                f"{loop / (spent - start):.1%} once started"
            )
        first = measured("first run", file, Path(folder) / "again", "here")
        second = measured("second run", file, Path(folder) / "again", "here")
        print(f"  {second / first:.2%} of the first")
        work = file.parent / "work" / "c00000.yaml"
        work.write_text(work.read_text().replace("web:1", "web:2"))
        measured("one changed file", file, Path(folder) / "again", "here")


if __name__ == "__main__":
    main()
