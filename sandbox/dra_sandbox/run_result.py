"""The result of one run of the Pulumi CLI, from its exit status, its output, and its event log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

Event = Mapping[str, Any]

_UNCHANGED = frozenset({"same", "read", "refresh"})


class ResourceStep(Struct, frozen=True):
    """One step of the engine, or a planned step in a preview.

    `op` is the engine's word: same, create, update, delete, replace, create-replacement,
    delete-replaced, read, and so on. `diffs` are the changed top-level properties, and
    `replace_keys` are the properties that force a replacement. `detailed` maps a property path to
    the kind of its change, such as "update-replace".
    """

    op: str
    urn: str
    type: str
    diffs: tuple[str, ...] = ()
    replace_keys: tuple[str, ...] = ()
    detailed: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """Logical name of the resource: the last part of its URN."""
        return self.urn.rsplit("::", 1)[-1]


class PolicyViolation(Struct, frozen=True):
    """One finding of a policy pack: its policy, its level ("mandatory" or "advisory"), its message,
    and its resource.
    """

    policy: str
    level: str
    message: str
    urn: str


class RunResult(Struct, frozen=True):
    """One run of the CLI: the command without paths of the environment, its exit status, output,
    duration, and events.
    """

    command: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    events: tuple[Event, ...] = ()

    @property
    def ok(self) -> bool:
        """True if the command succeeded."""
        return self.exit_code == 0

    @property
    def output(self) -> str:
        """Standard output and standard error together, for readers of a failure."""
        return self.stdout + self.stderr

    @property
    def change_counts(self) -> Mapping[str, int]:
        """Number of resources for each operation, from the engine's summary.

        Empty if there is no summary.
        """
        for event in reversed(self.events):
            if summary := event.get("summaryEvent"):
                return dict(summary.get("resourceChanges") or {})
        return {}

    @property
    def changed_nothing(self) -> bool:
        """True if the run succeeded and changed nothing, or if `up` would change nothing after a
        preview.
        """
        return self.ok and set(self.change_counts) <= _UNCHANGED

    @property
    def steps(self) -> tuple[ResourceStep, ...]:
        """The steps in the order in which the engine started them."""
        return tuple(self._steps())

    @property
    def violations(self) -> tuple[PolicyViolation, ...]:
        """The findings of policy packs, in order."""
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
        """Errors and warnings of the engine, except the findings of policy packs."""
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
    """Return the events in the engine's log, which has one JSON object per line. Empty if the log
    doesn't exist.
    """
    if not path.exists():
        return ()
    return tuple(
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    )
