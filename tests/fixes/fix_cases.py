"""The cases in `cases/`, each with the text of a fix, the input that causes it, and the change that
follows the fix.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

HERE = Path(__file__).parent
FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}}],
}
MANIFEST = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
  containers: [{name: main, image: registry.example/cuda:1, resources: {claims: [{name: gpu}]}}]
"""


class Case(Struct, frozen=True, kw_only=True):
    """`fix` is the text in the code. `words` is the command to run, by default `plan m.yaml --fleet
    fleet.json`.

    `put` sets values of the fleet (PATH: value, list items by number), `m` is the manifest, `edit`
    replaces texts in the manifest, and `files` contains additional files. `limits` lowers constants
    of modules, and `environment` applies only to the first run. The `then…` fields apply the fix.
    None removes a key or a file, `then_first` is a command from the fix that runs first, and
    `then_fault` is a word that describes a remaining error.
    """

    fix: str
    words: str = "plan m.yaml --fleet fleet.json"
    m: str = MANIFEST
    edit: list[list[str]] = []
    put: dict[str, Any] = {}
    files: dict[str, str] = {}
    stdin: str = ""
    limits: dict[str, int] = {}
    environment: dict[str, str] = {}
    then: str = ""
    then_first: str = ""
    then_edit: list[list[str]] = []
    then_put: dict[str, Any] = {}
    then_files: dict[str, str | None] = {}
    then_stdin: str = ""
    then_fault: str = ""


def read_cases() -> Iterator[Case]:
    for path in sorted((HERE / "cases").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text(encoding="utf-8")):
            yield Case(**row)


CASES = tuple(read_cases())


def edited(text: str, edits: list[list[str]]) -> str:
    """Return the text with parts replaced. The text must contain each of these parts."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return text


def changed(fleet: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the document with these values, which may be invalid."""
    whole = json.loads(json.dumps(fleet))
    for path, value in values.items():
        *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
        here = whole
        for part in parents:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        if value is None:
            del here[last]
        elif isinstance(here, list) and last == len(here):
            here.append(value)
        else:
            here[last] = value
    return whole
