"""What one run of the Pulumi CLI did, from its exit status, its output and its log of events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Event = Mapping[str, Any]

_UNCHANGED = frozenset({"same", "read", "refresh"})


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """One step that the engine took, or in a preview would take.

    `op` is the engine's word: same, create, update, delete, replace, create-replacement,
    delete-replaced, read …; `diffs` are the top-level properties that differ, `replace_keys` those
    among them that force a replacement; `detailed` maps a property path to the kind of its change,
    such as "update-replace".
    """

    op: str
    urn: str
    type: str
    diffs: tuple[str, ...] = ()
    replace_keys: tuple[str, ...] = ()
    detailed: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The resource's logical name: the last part of its URN."""
        return self.urn.rsplit("::", 1)[-1]


@dataclass(frozen=True, slots=True)
class PolicyViolation:
    """One report of a policy pack: which policy, how strict ("mandatory", "advisory"), what it
    said, about what.
    """

    policy: str
    level: str
    message: str
    urn: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """One run of the CLI: the command without the environment's paths, its exit status, output,
    time and events.
    """

    command: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    events: tuple[Event, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the command succeeded."""
        return self.exit_code == 0

    @property
    def output(self) -> str:
        """Both outputs, as a reader of the failure wants them."""
        return self.stdout + self.stderr

    @property
    def change_counts(self) -> Mapping[str, int]:
        """How many resources per operation, as the engine's summary says; empty when it gave
        none.
        """
        for event in reversed(self.events):
            if summary := event.get("summaryEvent"):
                return dict(summary.get("resourceChanges") or {})
        return {}

    @property
    def changed_nothing(self) -> bool:
        """Whether the run ended well and left, or would leave, everything as it was."""
        return self.ok and set(self.change_counts) <= _UNCHANGED

    @property
    def steps(self) -> tuple[ResourceStep, ...]:
        """The steps in the order in which the engine began them."""
        return tuple(self._steps())

    @property
    def violations(self) -> tuple[PolicyViolation, ...]:
        """What the policy packs reported, in order."""
        return tuple(
            PolicyViolation(
                policy=str(found.get("policyName", "")),
                level=str(found.get("enforcementLevel", "")),
                message=str(found.get("message", "")).strip(),
                urn=str(found.get("resourceUrn", "")),
            )
            for event in self.events
            if (found := event.get("policyEvent"))
        )

    @property
    def diagnostics(self) -> tuple[str, ...]:
        """Errors and warnings that the engine showed, policy reports left out."""
        return tuple(
            str(found.get("message", "")).strip()
            for event in self.events
            if (found := event.get("diagnosticEvent"))
            and found.get("severity") in {"error", "warning"}
        )

    def _steps(self) -> Iterator[ResourceStep]:
        for event in self.events:
            data = (event.get("resourcePreEvent") or {}).get("metadata")
            if data:
                detailed = data.get("detailedDiff") or {}
                yield ResourceStep(
                    op=data["op"],
                    urn=data["urn"],
                    type=data["type"],
                    diffs=tuple(data.get("diffs") or ()),
                    replace_keys=tuple(data.get("keys") or ()),
                    detailed={
                        path: str(change.get("diffKind", "")) for path, change in detailed.items()
                    },
                )


def read_events(path: Path) -> tuple[Event, ...]:
    """The events in a log that the engine wrote, one JSON object a line; none when there is no
    log.
    """
    if not path.exists():
        return ()
    return tuple(
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    )
