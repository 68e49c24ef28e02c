"""Dask: a cluster of processes on this machine, or the workers of an existing scheduler.

Inputs are separate tasks, identified by digest. Each input is sent once to the scheduler, and once
to each worker that needs it. If a worker with an input is lost, Dask sends the input again.
"""

from __future__ import annotations

import signal
import time
from asyncio import CancelledError
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

from dra_command.command_line.installation import extra_command
from dra_command.portfolio.computation.batches import Batch, OtherPlanner, Worked
from dra_command.portfolio.computation.engines.protocol import ATTEMPTS, Done, lost, single_cells
from dra_command.portfolio.computation.worker import run_batch
from dra_planner.errors import PlannerError

_CONNECT_SECONDS = 15
_COUNT_SECONDS = 5.0
_PER_WORKER = 3  # number of batches in progress per worker, so that no worker is idle


class OnDask:
    """The engine for many machines."""

    def __init__(self, *, address: str = "", workers: int = 0, memory_bytes: int = 0) -> None:
        """Connect to the scheduler at this address, or start this number of workers here. Raises
        PlannerError.
        """
        distributed, dask = _load("distributed"), _load("dask")
        self._address = address
        self._cluster: Any = None
        self._threads, self._counted = 0, -_COUNT_SECONDS
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": ATTEMPTS - 1,
                "distributed.comm.timeouts.connect": f"{_CONNECT_SECONDS}s",
                "distributed.worker.daemon": True,
                # number of times per second that each worker is checked
                "distributed.worker.profile.enabled": False,
                "distributed.worker.memory.target": False,
                "distributed.worker.memory.spill": False,
                # each cell needs its own memory, which nothing else would free
                "distributed.worker.memory.pause": False,
                "distributed.diagnostics.nvml": False,
            }
        )
        if not address:
            self._cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                memory_limit=memory_bytes or 0,
                dashboard_address=":0",  # any port, because the default port might be in use
                silence_logs=50,
                preload=[__name__],
            )
        try:
            self._client = distributed.Client(address or self._cluster, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            raise PlannerError(
                f"the Dask scheduler at {address} doesn't respond: {error}",
                fix="start a scheduler: dask scheduler",
            ) from None
        if not self.workers:
            raise PlannerError(
                f"the Dask scheduler at {address} doesn't have workers",
                fix=f"start workers: dask worker {address}",
            )

    @property
    def workers(self) -> int:
        """Number of threads of all workers, up to a few seconds old."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            self._threads = sum(self._client.nthreads().values())
            self._counted = time.monotonic()
        return self._threads

    @property
    def is_ours(self) -> bool:
        """Whether this process started the cluster."""
        return self._cluster is not None

    @property
    def name(self) -> str:
        """Name of the engine in messages."""
        return f"Dask at {self._address}" if self._address else "Dask on this machine"

    def run(self, batches: Iterable[Batch], inputs: Mapping[str, bytes]) -> Iterator[Done]:
        """Yield batches as they are completed. Raises PlannerError if the scheduler stops."""
        try:
            yield from self._run(batches, inputs)
        except (OSError, CancelledError):  # Dask raises this error if there is no response
            fix = "run the same command to continue with the unfinished cells"
            raise PlannerError(f"the scheduler of {self.name} stopped", fix=fix) from None

    def _run(self, batches: Iterable[Batch], inputs: Mapping[str, bytes]) -> Iterator[Done]:
        coming, again = iter(batches), deque[Batch]()
        under_way: dict[Any, Batch] = {}
        done = _load("distributed").as_completed([], raise_errors=False)
        kept = _Inputs(self._client, inputs)

        def feed() -> None:
            while len(under_way) < max(1, self.workers) * _PER_WORKER:
                batch = again.popleft() if again else next(coming, None)
                if batch is None:
                    return
                future = self._client.submit(
                    run_batch,
                    batch,
                    kept.future(batch.futures),
                    *(kept.future(each) for each in batch.inputs),
                    key=f"cells-{batch.cells[0].digest}-{len(batch.cells)}",
                    pure=False,
                )
                under_way[future] = batch
                done.add(future)

        feed()
        while under_way:
            future = next(done)
            batch = under_way.pop(future)
            if (worked := self._answer_of(future)) is not None:
                yield Done(batch, worked.rows, worked.cpu_seconds)
                kept.release(batch.inputs, under_way.values())
            # its worker was lost with the result, so another worker computes it again
            elif future.status != "error":
                again.append(batch)
            elif isinstance(error := future.exception(), OtherPlanner):
                raise PlannerError(
                    f"a worker of {self.name} runs a different version of pulumi-dra",
                    fix="install the same wheel on every worker",
                )
            elif len(batch.cells) > 1:
                again.extend(single_cells(batch))
            else:
                yield lost(
                    batch, f"the worker exited while computing this cell ({type(error).__name__})"
                )
            future.release()
            feed()

    def _answer_of(self, future: Any) -> Worked | None:
        """Return the result of a batch, or None if the batch failed or its result was lost. Raises
        CancelledError if the scheduler has stopped, because all results are lost in that case.
        """
        try:
            return future.result() if future.status == "finished" else None
        except CancelledError:
            return None
        finally:
            if self._client.status != "running":
                raise CancelledError

    def close(self) -> None:
        """Disconnect from the scheduler, and stop it if this process started it."""
        self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=10)


class _Inputs:
    """Inputs on the cluster by digest. They exist as long as batches in progress need them."""

    def __init__(self, client: Any, inputs: Mapping[str, bytes]) -> None:
        self._client = client
        self._inputs = inputs
        self._futures: dict[str, Any] = {}

    def future(self, digest: str) -> Any:
        """Return the task that returns the bytes with a digest."""
        if digest not in self._futures:
            self._futures[digest] = self._client.submit(
                _same, self._inputs[digest], key=f"inputs-{digest}", retries=ATTEMPTS
            )
        return self._futures[digest]

    def release(self, digests: Iterable[str], others: Iterable[Batch]) -> None:
        """Remove the inputs of stacks whose batches are completed."""
        for digest in set(digests).difference(*(batch.inputs for batch in others)):
            self._futures.pop(digest, None)


def dask_setup(worker: Any) -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes, because the process that started this
    worker handles it. Called by Dask.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _load(name: str) -> Any:
    """Return a Dask module, which is only partly typed. Raises PlannerError if Dask isn't
    installed.
    """
    try:
        return import_module(name)
    except ImportError:
        fix = f"run {extra_command('portfolio')}"
        raise PlannerError("Dask isn't installed", fix=fix) from None


def _same(data: bytes) -> bytes:
    return data
