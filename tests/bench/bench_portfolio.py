"""Portfolios: CPU of a run against a plain loop, a second run, a changed file, and the memory of workers.

    python tests/bench/bench_portfolio.py [STACKS] [SCENARIOS]

CPU seconds of all processes are compared, and not the time on the wall, which other work on the machine changes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "command" / "portfolio"))

from generated import write_portfolio

from dra_command.portfolio.collecting import collect
from dra_command.portfolio.running import RunOptions, run_portfolio
from dra_planner.plan import Plan
from dra_planner.portfolio.cells import StackCells


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


def plain_loop(file: Path) -> int:
    """Plan every cell one after the other, keeping nothing."""
    collected = collect(str(file))
    plans: list[Plan] = []
    for inputs in collected.stacks:
        cells = StackCells(inputs, collected.portfolio.ask)
        plans = [cells.plan(future)[0] for future in collected.futures]
    return len(plans)


def measured(what: str, file: Path, results: Path, engine: str) -> float:
    """Run, print and return CPU seconds."""
    before, began = cpu_seconds(), time.monotonic()
    options = RunOptions(results=results, engine=engine, workers=0 if engine == "here" else 2)
    log = run_portfolio(collect(str(file)), options).log
    spent = cpu_seconds() - before
    print(
        f"{what}: {log.computed} computed, {log.known} known, {spent:.2f} s of CPU in all, {log.cpu_seconds:.2f} s of "
        f"the cells, {time.monotonic() - began:.1f} s"
    )
    return spent


def main() -> None:
    """Print what was measured; the loop is warmed up by one stack first."""
    stacks, scenarios = (int(word) for word in (sys.argv[1:] or ["200", "50"]))
    with tempfile.TemporaryDirectory() as folder:
        file = write_portfolio(Path(folder) / "p", stacks, scenarios - 1)
        warm = write_portfolio(Path(folder) / "warm", 1, 1)
        plain_loop(warm)
        before = cpu_seconds()
        plain_loop(file)
        loop = cpu_seconds() - before
        cells = stacks * scenarios
        print(f"plain loop: {cells} cells, {loop:.2f} s of CPU, {loop / cells * 1000:.2f} ms each")
        for engine in ("here", "processes", "dask"):
            start = measured(f"{engine}, 2 cells", warm, Path(folder) / f"{engine}-start", engine)
            spent = measured(engine, file, Path(folder) / engine, engine)
            print(f"  throughput per core: {loop / spent:.1%} of the loop's, {loop / (spent - start):.1%} once started")
        first = measured("first run", file, Path(folder) / "again", "here")
        second = measured("second run", file, Path(folder) / "again", "here")
        print(f"  {second / first:.2%} of the first")
        work = file.parent / "work" / "c00000.yaml"
        work.write_text(work.read_text().replace("web:1", "web:2"))
        measured("one changed file", file, Path(folder) / "again", "here")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"largest worker: {most:.0f} MiB")


if __name__ == "__main__":
    main()
