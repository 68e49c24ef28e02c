"""All inputs in the repository that can be planned: examples, guides, cases of the API server,
fleets, and clusters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml
from cases_of_admission import ADMISSION
from cases_of_conditions import CONDITIONS
from cases_of_devices import DEVICES
from cases_of_idle_objects import IDLE_OBJECTS
from cases_of_policies import POLICIES
from cases_of_queues import QUEUES
from cases_of_reading import READING
from cases_of_rules import RULES_OF_PODS
from cases_of_starting import STARTING
from cases_of_volumes import VOLUMES
from cases_of_workflows import WORKFLOWS
from fix_cases import CASES, FLEET, changed, edited
from msgspec import Struct
from truth_objects import fleet

ROOT: Final = Path(__file__).parents[3]
TESTS: Final = ROOT / "tests"
_PLANNED: Final = ("plan m.yaml --fleet fleet.json", "check m.yaml --fleet fleet.json")


class Input(Struct, frozen=True, kw_only=True):
    """Manifests, and the pools for their plan: a fleet, or the nodes of a snapshot."""

    name: str
    manifests: str
    on: dict[str, Any] | None = None
    observed: str = ""
    kubernetes: str = ""

    def arguments(self, folder: Path) -> list[str]:
        """Write the input to a folder, and return the command-line arguments for it."""
        (folder / "manifests.yaml").write_text(self.manifests, encoding="utf-8")
        words = [str(folder / "manifests.yaml")]
        if self.observed:
            (folder / "cluster.yaml").write_text(self.observed, encoding="utf-8")
            words += ["--observed", str(folder / "cluster.yaml"), "--kubernetes", self.kubernetes]
        else:
            (folder / "fleet.json").write_text(json.dumps(self.on or fleet()), encoding="utf-8")
            words += ["--fleet", str(folder / "fleet.json")]
        return words


def inputs() -> Iterator[Input]:
    """Yield all inputs, in a fixed order."""
    yield from _files("examples", "**/*.yaml")
    yield from _files("tests/command/guides", "*.yaml")
    yield from _files("tests/tutorials/guides", "*.yaml")
    yield from _files("tests/policies/seeded/manifests", "good.yaml")
    yield from _server_cases()
    yield from _fleets()
    yield from _clusters()
    yield from _fix_cases()
    yield from _migrations()
    yield from _truth_cases()


def _files(folder: str, pattern: str) -> Iterator[Input]:
    for path in sorted((ROOT / folder).glob(pattern)):
        text = path.read_text(encoding="utf-8")
        if "kind:" in text and "pulumi" not in path.name.lower():
            yield Input(name=str(path.relative_to(ROOT)), manifests=text)


def _server_cases() -> Iterator[Input]:
    for path in sorted((TESTS / "planner/manifests/cases").glob("*.yaml")):
        for row in _load(path):
            if isinstance(row, dict) and isinstance(row.get("manifest"), str):
                yield Input(name=f"{path.stem}: {row.get('name', '')}", manifests=row["manifest"])


def _fleets() -> Iterator[Input]:
    for folder in ("planner/simulation/rehearsals", "sandbox/rehearsal/recorded"):
        for path in sorted((TESTS / folder).glob("*.yaml")):
            data = _load(path)
            objects = [
                item
                for each in data["workloads"]
                for item in (each if isinstance(each, list) else [each])
            ]
            yield Input(name=f"{folder}/{path.stem}", manifests=dump(objects), on=data["fleet"])


def _clusters() -> Iterator[Input]:
    for path in sorted((TESTS / "planner/plan/running_clusters").glob("*.yaml")):
        data = _load(path)
        yield Input(
            name=f"running_clusters/{path.stem}",
            manifests=dump(data["applied"]),
            observed=dump(data["cluster"]),
            kubernetes=data.get("kubernetes", "1.36.3").rpartition(".")[0],
        )


def _fix_cases() -> Iterator[Input]:
    """Yield the manifests of the cases for fixes, before and after the fix, with their fleet."""
    for number, case in enumerate(CASES):
        if case.words in _PLANNED and not (case.files or case.limits):
            manifests, on = edited(case.m, case.edit), changed(FLEET, case.put)
            yield Input(name=f"fixes/{number} before: {case.fix[:40]}", manifests=manifests, on=on)
            if not (case.then or case.then_files):
                name = f"fixes/{number} after: {case.fix[:40]}"
                yield Input(
                    name=name,
                    manifests=edited(manifests, case.then_edit),
                    on=changed(on, case.then_put),
                )


def _migrations() -> Iterator[Input]:
    for path in sorted((TESTS / "planner/migration/cases").glob("*.yaml")):
        data = _load(path)
        for key in ("given", "expect"):
            if isinstance(data.get(key), str):
                yield Input(name=f"migration/{path.stem} {key}", manifests=data[key])


def _truth_cases() -> Iterator[Input]:
    for case in (
        *STARTING,
        *ADMISSION,
        *QUEUES,
        *READING,
        *IDLE_OBJECTS,
        *RULES_OF_PODS,
        *CONDITIONS,
        *POLICIES,
        *VOLUMES,
        *WORKFLOWS,
        *DEVICES,
    ):
        yield Input(name=f"truth/{case.name}", manifests=dump(case.given), on=case.on)


def dump(objects: list[Any]) -> str:
    """Return objects as one YAML stream."""
    return "\n---\n".join(json.dumps(each) for each in objects)


def _load(path: Path) -> Any:
    return yaml.load(
        path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
