"""What may happen to a cluster that runs: each scenario is foretold by the simulation, then played
on the real one.

`rollout[:NAME]` new pods for every workload, or the one of that name; `scale-up` every workload at
its ceiling and every pool at its maximum; `node-lost[:NODE]` that node, or the one with most pods;
`zone-lost:ZONE`; `driver-upgraded:VERSION` the slices that another release of the NVIDIA driver
publishes, then a rollout; `arrival-order:ORDER` all workloads taken away, and applied again in that
order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast, get_args

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
"""How each is written."""

_NEEDS_SUBJECT: Final = ("zone-lost", "driver-upgraded", "arrival-order")


class RehearsalScenario(NamedTuple):
    """What happens, and to what; an empty subject is the one that the scenario chooses itself."""

    kind: ScenarioKind
    subject: str = ""

    @classmethod
    def parse(cls, text: str) -> RehearsalScenario:
        """Return the scenario that a text such as `node-lost:l4-0` names. Raises ValueError."""
        kind, _, subject = text.partition(":")
        if kind not in get_args(ScenarioKind):
            raise ValueError(f'"{text}" is not a scenario: write {", ".join(SCENARIOS.values())}')
        if bool(subject) < (kind in _NEEDS_SUBJECT) or (kind == "scale-up" and subject):
            raise ValueError(
                f'"{text}" is not complete: write {SCENARIOS[cast("ScenarioKind", kind)]}'
            )
        return cls(cast("ScenarioKind", kind), subject)

    def __str__(self) -> str:
        return f"{self.kind}:{self.subject}" if self.subject else self.kind


class UnknownSubject(Exception):
    """A scenario names a node, zone, workload or release that there is not; the message says which
    there are.
    """


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """One workload: pods placed before, pods that it is to have after, what the simulation said,
    what became of it.
    """

    before: int
    wanted: int
    outcome: RehearsedWorkload
    simulated: SimulatedWorkload
    deviation: OutcomeDifference | None = None

    @property
    def pending(self) -> int:
        """Pods without a node, those included that were not created."""
        return max(self.wanted, len(self.outcome.pods)) - self.outcome.placed


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """A scenario that was played: what happened in a sentence, and every workload; `decided` as in
    Outcome.
    """

    scenario: RehearsalScenario
    event: str
    rows: tuple[ScenarioRow, ...]
    decided: bool
    seconds: float

    @property
    def pending(self) -> int:
        """Pods of all workloads that have no node."""
        return sum(row.pending for row in self.rows)

    @property
    def unexplained(self) -> tuple[ScenarioRow, ...]:
        """The rows whose difference has no known reason."""
        return tuple(
            row for row in self.rows if row.deviation and row.deviation.reason == "unexplained"
        )
