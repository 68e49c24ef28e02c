"""Rehearses a plan: its nodes and slices on a real control plane, its workloads placed by the real scheduler.

`rehearse` is given a running control plane and a plan, and returns what became of every workload and pool beside what
the plan said, each difference with its reason.
"""

from __future__ import annotations

from dra_sandbox.rehearsal.borrowed import NotThrowAway, borrowed_cluster
from dra_sandbox.rehearsal.comparison import Comparison, WorkloadRow
from dra_sandbox.rehearsal.differences import Difference
from dra_sandbox.rehearsal.outcome import Outcome, PoolOutcome, WorkloadOutcome
from dra_sandbox.rehearsal.rehearsing import Request, Where, rehearse, rehearse_in_turn
from dra_sandbox.rehearsal.scenarios import Scenario, ScenarioOutcome, ScenarioRow, UnknownSubject
from dra_sandbox.rehearsal.simulating import SimulatedWorkload
from dra_sandbox.rehearsal.workloads import Order

__all__ = [
    "Comparison",
    "Difference",
    "NotThrowAway",
    "Order",
    "Outcome",
    "PoolOutcome",
    "Request",
    "Scenario",
    "ScenarioOutcome",
    "ScenarioRow",
    "SimulatedWorkload",
    "UnknownSubject",
    "Where",
    "WorkloadOutcome",
    "WorkloadRow",
    "borrowed_cluster",
    "rehearse",
    "rehearse_in_turn",
]
