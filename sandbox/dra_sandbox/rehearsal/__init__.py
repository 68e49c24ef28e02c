"""Rehearse a plan: create its nodes and ResourceSlices on a real control plane, and let a real
scheduler place the workloads.

`rehearse` takes a running control plane and a plan. It returns the outcome of every workload and
pool together with the plan's prediction, and a reason for each difference.
"""

from __future__ import annotations

from dra_sandbox.rehearsal.comparison import ComparedWorkload, Comparison
from dra_sandbox.rehearsal.differences import OutcomeDifference
from dra_sandbox.rehearsal.existing_cluster import NotThrowAway, borrowed_cluster
from dra_sandbox.rehearsal.migration_steps import RehearsedStep, rehearse_steps
from dra_sandbox.rehearsal.outcome import PoolOutcome, RehearsalOutcome, RehearsedWorkload
from dra_sandbox.rehearsal.rehearsing import RehearsalRequest, Where, rehearse, rehearse_in_turn
from dra_sandbox.rehearsal.scenarios import (
    RehearsalScenario,
    ScenarioOutcome,
    ScenarioRow,
    UnknownSubject,
)
from dra_sandbox.rehearsal.simulation import SimulatedWorkload
from dra_sandbox.rehearsal.workloads import WorkloadOrder

__all__ = [
    "ComparedWorkload",
    "Comparison",
    "NotThrowAway",
    "OutcomeDifference",
    "PoolOutcome",
    "RehearsalOutcome",
    "RehearsalRequest",
    "RehearsalScenario",
    "RehearsedStep",
    "RehearsedWorkload",
    "ScenarioOutcome",
    "ScenarioRow",
    "SimulatedWorkload",
    "UnknownSubject",
    "Where",
    "WorkloadOrder",
    "borrowed_cluster",
    "rehearse",
    "rehearse_in_turn",
    "rehearse_steps",
]
