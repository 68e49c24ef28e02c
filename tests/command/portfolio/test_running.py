"""Runs of a portfolio: all engines have the same results, nothing is computed twice, and nothing is
lost.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from generated_portfolios import write_portfolio

from dra_command.portfolio.computation import execution, worker
from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.answer_store import Store
from dra_command.portfolio.computation.batches import Worked
from dra_command.portfolio.computation.deadlines import TooLong, deadline
from dra_command.portfolio.computation.engines import in_process
from dra_command.portfolio.computation.engines.process_pool import Processes
from dra_command.portfolio.computation.execution import (
    FEW_CELLS,
    PortfolioAnswers,
    RunLog,
    RunOptions,
    choose_engine,
    run_portfolio,
)
from dra_command.portfolio.input_collection import collect
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.portfolio.answers import answer_of
from dra_planner.portfolio.cells import read_stack_fleet


def rows_of(answers: PortfolioAnswers) -> list[AnswerRow | None]:
    return [answers.row(cell) for cell in answers.cells]


def run(
    file: Path,
    results: str = "results",
    progress: Callable[[RunLog], None] = lambda log: None,
    **options: object,
) -> PortfolioAnswers:
    """Run a portfolio in this process, unless other options select an engine."""
    where = RunOptions(results=file.parent / results, **{"engine": "here", **options})  # type: ignore[arg-type]
    return run_portfolio(collect(str(file)), where, progress)


def test_answers_equal_those_of_make_plan(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 3, 0)
    answers = run(file)
    for inputs, row in zip(answers.collected.stacks, rows_of(answers), strict=True):
        fleet = read_stack_fleet(inputs)
        plan = answer_of(make_plan(PlanRequest(sources=inputs.sources, fleet=fleet, steps=20_000)))
        assert row is not None
        assert (row.outcome, row.nodes, row.hourly_usd) == (
            plan.verdict,
            plan.nodes,
            float(plan.hourly_usd or 0),
        )


def test_second_run_computes_nothing(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 3, 3)
    first, second = run(file), run(file)
    assert (first.log.computed, second.log.computed, second.log.known) == (12, 0, 12)
    assert rows_of(second) == rows_of(first)


def test_changed_file_changes_only_its_cells(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 3, 3)
    run(file)
    work_file = tmp_path / "p" / "work" / "c00001.yaml"
    work_file.write_text(work_file.read_text().replace("web:1", "web:2"))
    again = run(file)
    assert again.log.computed == 4
    assert rows_of(again) == rows_of(run(file, "fresh"))


def test_changed_scenario_changes_only_its_cells(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 3, 3)
    run(file)
    file.write_text(
        file.read_text().replace("{name: grow-2, replicas: 1.2}", "{name: grow-2, replicas: 4}")
    )
    assert run(file).log.computed == 3


def test_renaming_changes_nothing(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 2, 1)
    run(file)
    text = file.read_text().replace("grow-1", "more")
    file.write_text(text.replace("fleets/c00000.yaml,", "fleets/c00000.yaml, name: first,"))
    assert run(file).log.computed == 0


def test_interrupted_run_keeps_results_and_continues(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 4, 1)

    def interrupt(log: RunLog) -> None:
        if log.computed >= 4:
            raise KeyboardInterrupt

    first = run(file, progress=interrupt)
    assert (first.log.interrupted, first.log.computed) == (True, 4)
    second = run(file)
    assert (second.log.known, second.log.computed) == (4, 4)
    assert rows_of(second) == rows_of(run(file, "fresh"))


def test_sample_of_the_stacks_runs_all_scenarios(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 4, 2)
    answers = run(file, sample=0.25)
    assert answers.log.computed == 3
    assert run(file).log.computed == 9


def test_broken_stack_is_reported_and_the_others_complete(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 3, 1)
    (tmp_path / "p" / "fleets" / "c00001.yaml").write_text("cloud: mars\n")
    (tmp_path / "p" / "work" / "c00002.yaml").unlink()
    outcomes = [row.outcome for row in rows_of(run(file)) if row is not None]
    assert outcomes[:2] == ["fits", "fits"] or "does-not-fit" in outcomes[:2]
    assert outcomes[2:] == ["failed:input"] * 4


def test_cell_that_times_out_is_reported_and_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_portfolio(tmp_path / "p", 2, 0, "limits: {seconds: 1}\n")
    plan = worker._ASK["plan"]

    def slow(stack: object, future: object) -> object:
        until = time.monotonic() + 2 * (stack.inputs.name == "c00001")  # type: ignore[attr-defined]
        while time.monotonic() < until:
            pass
        return plan(stack, future)  # type: ignore[arg-type]

    monkeypatch.setitem(worker._ASK, "plan", slow)
    first = rows_of(run(file))
    assert [row.outcome.partition(":")[0] for row in first if row is not None][1] == "failed"
    assert first[1] is not None
    assert first[1].why == "the cell takes longer than 1 s; raise `limits.seconds` in the portfolio"
    file.write_text(file.read_text().replace("seconds: 1}", "seconds: 120}"))
    again = run(file)
    monkeypatch.setitem(worker._ASK, "plan", plan)
    assert rows_of(again) == rows_of(run(file, "fresh"))
    assert [row.outcome.partition(":")[0] for row in rows_of(again) if row is not None].count(
        "failed"
    ) == 0


def test_cell_without_memory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hungry(stack: object, future: object) -> object:
        raise MemoryError

    file = write_portfolio(tmp_path / "p", 1, 0, "limits: {memoryGib: 1}\n")
    with monkeypatch.context() as patch:
        patch.setitem(worker._ASK, "plan", hungry)
        (row,) = rows_of(run(file))
    assert row is not None
    assert (row.outcome, row.why) == (
        "failed:memory",
        ("the cell needs more memory than a worker has; raise `limits.memoryGib` in the portfolio"),
    )
    file.write_text(file.read_text().replace("memoryGib: 1", "memoryGib: 8"))
    (again,) = rows_of(run(file))
    assert again is not None
    assert again.outcome == "fits"


def test_deadline_ends_only_its_block() -> None:
    def forever() -> None:
        while True:
            pass

    with pytest.raises(TooLong), deadline(0.05):
        forever()
    with deadline(5):
        assert sum(range(1000)) == 499_500


def test_process_pool_gives_the_same_answers_after_a_process_is_killed(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 6, 5)
    killed: list[int] = []

    class Fragile(Processes):
        def _submit(self, batch: worker.Batch, workers: int) -> object:  # type: ignore[override]
            future = super()._submit(batch, workers)
            if not killed and self._pool is not None and self._pool._processes:
                killed.append(next(iter(self._pool._processes)))
                os.kill(killed[0], signal.SIGKILL)
            return future

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "Processes", Fragile)
        answers = run(file, engine="processes", workers=2)
    assert killed
    assert rows_of(answers) == rows_of(run(file, "fresh"))


def test_process_pool_repeats_a_batch_that_it_lost_when_it_broke(tmp_path: Path) -> None:
    """A batch that is submitted while the pool breaks can be lost, so its future never ends."""
    file = write_portfolio(tmp_path / "p", 2, 1)
    lost: list[object] = []

    class Losing(Processes):
        def _submit(self, batch: worker.Batch, workers: int) -> object:  # type: ignore[override]
            future = super()._submit(batch, workers)
            if lost or self._pool is None:
                return future
            os.kill(next(iter(self._pool._processes)), signal.SIGKILL)
            with pytest.raises(BrokenProcessPool):
                future.result()
            lost.append(batch)
            return Future[Worked]()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "Processes", Losing)
        answers = run(file, engine="processes", workers=1)
    assert lost
    assert rows_of(answers) == rows_of(run(file, "fresh"))


def test_cell_that_kills_every_process_is_reported_and_needs_memory(
    tmp_path: Path,
) -> None:
    """The kernel kills a process that needs more memory than the machine has, and reports no
    reason. This test does the same.
    """
    file = write_portfolio(tmp_path / "p", 1, 0, "limits: {memoryGib: 2}\n")

    class Killed(Processes):
        def _submit(self, batch: worker.Batch, workers: int) -> object:  # type: ignore[override]
            future = super()._submit(batch, workers)
            for process in tuple(self._pool._processes or ()) if self._pool is not None else ():
                os.kill(process, signal.SIGKILL)
            return future

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execution, "Processes", Killed)
        (row,) = rows_of(run(file, engine="processes", workers=2))
    assert row is not None
    assert row.outcome == "failed:worker"
    assert row.why.endswith(
        "; raise `limits.memoryGib` in the portfolio, or give the workers more memory"
    )
    file.write_text(file.read_text().replace("memoryGib: 2", "memoryGib: 8"))
    (again,) = rows_of(run(file, engine="processes", workers=2))
    assert again is not None
    assert again.outcome == "fits"


def test_answers_are_stored_without_pyarrow(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 2, 1)
    kept = [row for row in rows_of(run(file)) if row is not None]
    lines = Store(tmp_path / "lines")
    lines.has_parquet = False
    lines.add(kept)
    lines.close()
    assert [part.suffix for part in (tmp_path / "lines").iterdir()] == [".jsonl"]
    assert sorted(Store(tmp_path / "lines").read({row.digest for row in kept}).values()) == sorted(
        kept
    )


def test_many_parts_become_one(tmp_path: Path) -> None:
    rows = [AnswerRow(f"{at:04d}", "plan", "fits", nodes=at, hourly_usd=at / 3) for at in range(60)]
    store = Store(tmp_path)
    for row in rows:
        store.add([row])
        store.flush()
    store.close()
    assert len(list(tmp_path.glob("part-*"))) == 1
    assert sorted(Store(tmp_path).read({row.digest for row in rows}).values()) == rows


def test_json_of_plans_is_read_only_on_request(tmp_path: Path) -> None:
    rows = {name: AnswerRow(name, name, "fits", details=f'"{name}"') for name in ("plan", "risk")}
    store = Store(tmp_path)
    store.add(rows.values())
    store.close()
    assert Store(tmp_path).read({"plan", "risk"}, whole=True) == rows
    assert Store(tmp_path).read({"plan", "risk"}) == {
        **rows,
        "plan": rows["plan"]._replace(details=""),
    }


def test_stacks_with_few_cells_are_batched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_portfolio(tmp_path / "p", 400, 0)
    sizes: list[int] = []

    def no_results(batch: worker.Batch, futures: bytes, *inputs: bytes) -> worker.Worked:
        assert len(inputs) == len(set(batch.inputs))
        sizes.append(len(batch.cells))
        return worker.Worked([], 0)

    monkeypatch.setattr(in_process, "run_batch", no_results)
    run(file)
    assert sizes == [50] * 8


def test_retried_outcomes_are_not_stored(tmp_path: Path) -> None:
    row = AnswerRow("a", "plan", "failed:time")
    store = Store(tmp_path)
    store.add([row, replace_outcome(row, "failed:input")])
    store.close()
    assert [each.outcome for each in Store(tmp_path).read({"a"}).values()] == ["failed:input"]


def replace_outcome(row: AnswerRow, outcome: str) -> AnswerRow:
    return row._replace(outcome=outcome)


@pytest.mark.parametrize(
    ("cells", "engine", "workers", "cores", "name"),
    [
        (FEW_CELLS, "", 0, 8, "this process"),
        (FEW_CELLS + 1, "", 0, 8, "a pool of processes"),
        (10_000_000, "", 0, 8, "a pool of processes"),  # with Dask installed, as it is here
        (10_000_000, "", 0, 1, "this process"),
        (1, "", 2, 8, "a pool of processes"),
        (10_000_000, "", 1, 8, "this process"),
        (1, "processes", 0, 8, "a pool of processes"),
        (10_000_000, "here", 0, 8, "this process"),
    ],
)
def test_engine_is_chosen_by_cells_and_cores(
    cells: int,
    engine: str,
    workers: int,
    cores: int,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "dra_command.portfolio.computation.execution.default_workers", lambda: cores
    )
    collected = collect(str(write_portfolio(tmp_path / "p", 1, 1)))
    chosen = choose_engine(
        collected, cells, RunOptions(results=tmp_path, engine=engine, workers=workers)
    )
    try:
        assert (chosen.name, chosen.workers) == (
            name,
            workers or (1 if name == "this process" else cores),
        )
    finally:
        chosen.close()
