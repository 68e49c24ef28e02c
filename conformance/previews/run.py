"""Hold what the pack tells of a first preview to what it tells of resources that are all known; export their state.

    python conformance/previews/run.py              each stack below, through the real engine on simulated clouds
    python conformance/previews/run.py --write      writes the exported states that the tests read

A stack is one of the good ones of `tests/policies/seeded` with several of its faults at once. The engine previews it
with the pack, where outputs of other resources are not known: it must tell the same (rule, level, object). Then it is
made without the pack; what is told of its exported state is held to the same by tests/policies/test_same_findings.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SEEDED = ROOT / "tests" / "policies"
sys.path.insert(0, str(SEEDED))

from seeded_stacks import base, edited, seeded, told  # noqa: E402  # of the tests, whose data it is

from dra_policies.stack.resource import Resource  # noqa: E402  # after the path
from dra_sandbox.engine import Engine  # noqa: E402

REGIONS = {"aws:region": "us-east-1", "gcp:project": "research", "gcp:region": "us-central1"}
FAULTS: dict[str, tuple[str, ...]] = {
    "raw-eks": (
        "no log types",
        "IMDSv1 on GPU nodes",
        "a driver without a version",
        "pods that select another pool",
        "a scaler that exceeds the pool",
        "a team that may change classes",
        "a namespace of workloads where pods may be privileged",
        "a budget that lets no pod go",
    ),
    "raw-gke": (
        "the cloud's driver",
        "a misspelt plugin on GKE",
        "a claim too large on GKE",
        "GPU nodes with the default service account",
    ),
    "karpenter": (
        "Karpenter told to ignore claims",
        "Karpenter's nodes with IMDSv1",
        "another architecture than the machine's",
    ),
}


def main() -> int:
    """Run the stacks; return 1 where two ways of looking differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--stack", action="append", default=[], choices=sorted(FAULTS))
    values = parser.parse_args()
    differences = [line for name in values.stack or FAULTS for line in _of_stack(name, write=values.write)]
    print("\n".join(differences) or "previews, updates and exported states tell the same")
    return int(bool(differences))


def _of_stack(name: str, *, write: bool) -> list[str]:
    rows = {row.fault: row for row in seeded()}
    stack = base(name)
    for fault in FAULTS[name]:
        stack = edited(stack, rows[fault].edit)
    known = {(entry.rule, entry.level, entry.object) for entry in told(stack)}
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
    print(f"{name}: {len(known)} told of the known stack, {len(found)} in its first preview")
    lines = [f"{name}: lost in the first preview: {each}" for each in sorted(known - found)]
    lines += [f"{name}: told in the first preview alone: {each}" for each in sorted(found - known)]
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
    folder = SEEDED / "exported"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(state, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
