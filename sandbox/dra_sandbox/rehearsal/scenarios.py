"""Events in a running cluster. The simulation predicts each scenario, and then the rehearsal runs
it on the real cluster.

- `rollout[:NAME]`: new pods for every workload, or for the named one
- `scale-up`: every workload at its ceiling, and every pool at its maximum
- `node-lost[:NODE]`: that node, or the one with the most pods, is deleted
- `zone-lost:ZONE`: all nodes of the zone are deleted
- `driver-upgraded:VERSION`: the slices of another NVIDIA driver version, then a rollout
- `arrival-order:ORDER`: all workloads are deleted and applied again in this order
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, cast, get_args

from msgspec import Struct

from dra_sandbox.rehearsal.differences import OutcomeDifference
from dra_sandbox.rehearsal.outcome import RehearsedWorkload
from dra_sandbox.rehearsal.simulation import SimulatedWorkload

ScenarioKind = Literal[
    "rollout", "scale-up", "node-lost", "zone-lost", "driver-upgraded", "arrival-order"
]

SCENARIOS: Final[Mapping[ScenarioKind, str]] = {
    "rollout": "rollout[:NAME]",
    "scale-up": "scale-up",
    "node-lost": "node-lost[:NODE]",
    "zone-lost": "zone-lost:ZONE",
    "driver-upgraded": "driver-upgraded:VERSION",
    "arrival-order": "arrival-order:ORDER",
}
"""The syntax of each scenario."""

_NEEDS_SUBJECT: Final = ("zone-lost", "driver-upgraded", "arrival-order")


class RehearsalScenario(NamedTuple):
    """A scenario and its subject. If the subject is empty, the scenario chooses it."""

    kind: ScenarioKind
    subject: str = ""

    @classmethod
    def parse(cls, text: str) -> RehearsalScenario:
        """Return the scenario that a text such as `node-lost:l4-0` names.

        Raises ValueError if there is none.
        """
        kind, _, subject = text.partition(":")
        if kind not in get_args(ScenarioKind):
            raise ValueError(
                f'"{text}" isn\'t a scenario; use one of: {", ".join(SCENARIOS.values())}'
            )
        if bool(subject) < (kind in _NEEDS_SUBJECT) or (kind == "scale-up" and subject):
            raise ValueError(
                f'"{text}" isn\'t complete; use {SCENARIOS[cast("ScenarioKind", kind)]}'
            )
        return cls(cast("ScenarioKind", kind), subject)

    def __str__(self) -> str:
        return f"{self.kind}:{self.subject}" if self.subject else self.kind


class UnknownSubject(Exception):
    """A scenario names an unknown node, zone, workload, or version. The message lists the existing
    names.
    """


class ScenarioRow(Struct, frozen=True):
    """One workload: its placed pods before, its expected pods after, the simulated result, and the
    outcome.
    """

    before: int
    wanted: int
    outcome: RehearsedWorkload
    simulated: SimulatedWorkload
    deviation: OutcomeDifference | None = None

    @property
    def pending(self) -> int:
        """Number of pods without a node, including pods that weren't created."""
        return max(self.wanted, len(self.outcome.pods)) - self.outcome.placed


class ScenarioOutcome(Struct, frozen=True):
    """A completed scenario: its event as a sentence, and every workload. `decided` has the same
    meaning as in RehearsalOutcome.
    """

    scenario: RehearsalScenario
    event: str
    rows: tuple[ScenarioRow, ...]
    decided: bool
    seconds: float

    @property
    def pending(self) -> int:
        """Number of pods without a node in all workloads."""
        return sum(row.pending for row in self.rows)

    @property
    def unexplained(self) -> tuple[ScenarioRow, ...]:
        """The rows whose difference has no known reason."""
        return tuple(
            row for row in self.rows if row.deviation and row.deviation.reason == "unexplained"
        )
