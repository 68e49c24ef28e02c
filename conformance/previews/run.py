"""Compare the policy pack's findings in a first preview with its findings when all resources are
known, and export the state.

    python conformance/previews/run.py          run each stack below with the real engine on
                                                simulated clouds
    python conformance/previews/run.py --write  write the exported states that the tests read

Each stack is one of the valid stacks of `tests/policies/seeded` with multiple faults at once. The
engine previews it with the pack while the outputs of other resources are unknown, and must report
the same findings (rule, level, object). Then the stack is created without the pack. The test
tests/policies/test_same_findings.py checks that the exported state has the same findings.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SEEDED = ROOT / "tests" / "policies"
sys.path.insert(0, str(SEEDED))

from seeded_stacks import base, edited, findings_of, seeded  # noqa: E402  # of the tests, whose data it is

from dra_policies.stack.resource import Resource  # noqa: E402  # after the path
from dra_sandbox.engine import Engine  # noqa: E402

REGIONS = {"aws:region": "us-east-1", "gcp:project": "research", "gcp:region": "us-central1"}
EXPORTED = SEEDED / "exported"
FAULTS: dict[str, list[str]] = yaml.safe_load(
    (EXPORTED / "faults.yaml").read_text(encoding="utf-8")
)
OF_THE_RUN = ("created", "modified", "sourcePosition", "stackTrace", "time")


def main() -> int:
    """Run the stacks. Return 1 if the two results differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--stack", action="append", default=[], choices=sorted(FAULTS))
    values = parser.parse_args()
    differences = [
        line for name in values.stack or FAULTS for line in _of_stack(name, write=values.write)
    ]
    print("\n".join(differences) or "previews, updates, and exported states have the same findings")
    return int(bool(differences))


def _of_stack(name: str, *, write: bool) -> list[str]:
    rows = {row.fault: row for row in seeded()}
    stack = base(name)
    for fault in FAULTS[name]:
        stack = edited(stack, rows[fault].edit)
    known = {(entry.rule, entry.level, entry.object) for entry in findings_of(stack, date.today())}
    with tempfile.TemporaryDirectory() as scratch:
        engine = Engine(Path(scratch), HERE / "program")
        engine.stack_init("dev")
        _configure(engine, stack)
        preview = engine.preview("dev", policy_pack=ROOT / "policies")
        update = engine.up("dev", skip_preview=True)
        state = engine.export("dev")
        file = Path(scratch) / "state.json"
        file.write_text(json.dumps(state))
    found = {(each.policy, each.level, each.urn.rpartition("::")[2]) for each in preview.violations}
    print(f"{name}: {len(known)} findings for the known stack,  {len(found)} in its first preview")
    lines = [f"{name}: missing in the first preview: {each}" for each in sorted(known - found)]
    lines += [f"{name}: only in the first preview: {each}" for each in sorted(found - known)]
    if not found:
        lines.append(f"{name}: {preview.output[-3000:]}")
    if not update.ok:
        lines.append(f"{name}: {update.output[-3000:]}")
    elif write:
        _write(name, state)
    return lines


def _configure(engine: Engine, stack: dict[str, Resource]) -> None:
    settings = engine.settings_folder / "Pulumi.dev.yaml"
    document = yaml.safe_load(settings.read_text()) or {}
    resources = {short: _given(each) for short, each in stack.items()}
    config = {**REGIONS, "raw:resources": json.dumps(resources)}
    settings.write_text(yaml.safe_dump({**document, "config": config}))


def _given(each: Resource) -> dict[str, Any]:
    short = {key: [urn.rpartition("::")[2] for urn in urns] for key, urns in each.sources.items()}
    return {
        "type": each.type,
        "props": each.props.values,
        "sources": short,
        "provider": each.provider.rpartition("::")[2],
    }


def _write(name: str, state: dict[str, Any]) -> None:
    (EXPORTED / f"{name}.json").write_text(
        json.dumps(_lasting(state), indent=1, sort_keys=True) + "\n"
    )


def _lasting(value: Any) -> Any:
    """Return a state without the time and the folder of its creation."""
    if isinstance(value, dict):
        return {key: _lasting(item) for key, item in value.items() if key not in OF_THE_RUN}
    return [_lasting(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
