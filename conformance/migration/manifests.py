"""Migrate a folder of manifests, and check each result: its comments, a second migration, the API
server's response, and its plan.

    .venv/bin/python conformance/migration/manifests.py FOLDER [--minors 34 36]

Every file below FOLDER is used if it contains pods that request devices of a device plugin. Files
that aren't YAML, such as templates of charts, are omitted. The command prints a summary, and the
files that can't be rewritten, each with the reason. With --plans, it also plans each file before
and after the migration, on the same machines.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds.eks import CLOUD
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.migration import Migration, Result, migrate
from dra_planner.migration.pod_templates import find_pod_parts
from dra_planner.migration.target_cluster import target_of_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source
from dra_sandbox.control_plane import ApiRejection, ApiServer, Settings, control_plane

_MACHINES = {
    "t4": "g4dn.12xlarge",
    "a10g": "g5.12xlarge",
    "l4": "g6.12xlarge",
    "l40s": "g6e.12xlarge",
    "a100": "p4d.24xlarge",
    "h100": "p5.48xlarge",
}
_FLEET = {
    "cloud": CLOUD.name,
    "region": "us-east-1",
    "systemPool": {"machine": "m7i.8xlarge"},
}
_PLUGIN = {"version": "0.17.4"}


_DRIVERS = {
    34: {"version": "25.8.1"},
    36: {"version": "0.5.0", "featureGates": {"ConsumableShares": True}, "consumableShares": 4},
}
"""The NVIDIA DRA driver version by minor version. From 1.36 on, claims of separate pods can share
GPUs.
"""
_LONGEST = 160
_MENTIONED = re.compile(r"\b(nvidia\.com/(gpu|mig-)|amd\.com/gpu)")


class Migrated(Struct, frozen=True):
    """A file, its migration, and a second migration of the result."""

    source: Source
    found: Migration
    again: Migration

    @property
    def text(self) -> str:
        return self.found.files[0].text

    @property
    def is_rewritten(self) -> bool:
        return all(
            each.result is Result.REWRITTEN or _UNREQUESTED in each.reason
            for each in self.found.templates
        )

    @property
    def lost_comments(self) -> list[str]:
        """Comments in unchanged lines that the result no longer contains."""
        kept = Counter(map(_comment, self.text.splitlines()))
        wanted = Counter(
            _comment(line) for line in self.source.text.splitlines() if _is_whole_comment(line)
        )
        return [text for text, count in wanted.items() if text and kept[text] < count]

    @property
    def is_idempotent(self) -> bool:
        return self.again.files[0].text == self.text


def _is_whole_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _comment(line: str) -> str:
    _, mark, text = line.partition("#")
    return text.strip() if mark else ""


def fleet_of(minor: int, *, before: bool = False) -> Fleet:
    """Return the fleet to which the files migrate, or the same machine types with the device
    plugin.
    """
    own = {"allocation": "device-plugin"} if before else {}
    pools = [
        {"name": name, "machine": machine, "count": {"max": 50}, **own}
        for name, machine in _MACHINES.items()
    ]
    plugin = {"devicePlugin": _PLUGIN} if before else {}
    drivers = {"nvidia": _DRIVERS[minor]}
    return read_fleet(
        {**_FLEET, "kubernetes": f"1.{minor}", "drivers": drivers, "pools": pools, **plugin}
    )


def migrated_files(folder: Path, minor: int) -> Iterator[Migrated]:
    """Yield the files of a folder with pods that request devices, sorted, each text once.

    Extended resources that a class serves are omitted from the target, so that only rewritten pods
    count.
    """
    target = replace(target_of_fleet(fleet_of(minor)), served={})
    seen = set[str]()
    for path in sorted(folder.rglob("*.y*ml")):
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        source = Source(str(path.relative_to(folder)), text)
        if text in seen or not _MENTIONED.search(text) or not _is_readable(source):
            continue
        seen.add(text)
        found = migrate([source], target)
        if any(_UNREQUESTED not in each.reason for each in found.templates):
            yield Migrated(
                source, found, migrate([Source(source.name, found.files[0].text)], target)
            )


_UNREQUESTED = "requests no device"


def _is_readable(source: Source) -> bool:
    """Return True if a file contains manifests that Kubernetes can read, without templates or
    placeholders in braces.
    """
    try:
        return bool(_objects([source]))
    except PlannerError:
        return False


def rejections(server: ApiServer, source: Source) -> set[str]:
    """Return the API server's errors for the pod templates and claim templates in a source."""
    return {text for each in _checkable(source) if (text := _rejection(server, each))}


def _checkable(source: Source) -> Iterator[dict[str, Any]]:
    """Yield each pod template as an object of a kind that every API server serves, and yield claim
    templates unchanged.
    """
    for item in _objects([source]):
        if item.kind == "ResourceClaimTemplate":
            yield _in_default(item)
            continue
        for part in find_pod_parts(item.data, item.group, item.kind):
            spec = copy.deepcopy(
                {key: value for key, value in part.spec.items() if key in _POD_FIELDS}
            )
            spec |= {"restartPolicy": spec.get("restartPolicy", "Never")}
            for key in ("containers", "initContainers"):
                for number, container in enumerate(spec.get(key) or ()):
                    container.setdefault("image", "example/main:1")
                    container.setdefault("name", f"main-{number}")
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"generateName": "p-", "namespace": "default"},
                "spec": spec,
            }


_POD_FIELDS = frozenset(
    {
        "containers",
        "initContainers",
        "resourceClaims",
        "tolerations",
        "nodeSelector",
        "affinity",
        "volumes",
        "restartPolicy",
    }
)


def _in_default(item: KubernetesObject) -> dict[str, Any]:
    data = copy.deepcopy(dict(item.data))
    data["metadata"] = {"generateName": "c-", "namespace": "default"}
    return data


def _objects(sources: Iterable[Source]) -> list[KubernetesObject]:
    documents, _ = read_documents(sources)
    return list(read_objects(documents))


def _rejection(server: ApiServer, document: dict[str, Any]) -> str:
    kind = document["kind"]
    path = "/api/v1/namespaces/default/pods" if kind == "Pod" else (
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates"
    )  # fmt: skip
    try:
        server.call("POST", f"{path}?dryRun=All&fieldValidation=Strict", document)
    except ApiRejection as error:
        return str(error)
    return ""


def plan_of(fleet: Fleet, source: Source) -> Plan:
    """Return the plan of a file, without a simulation."""
    return make_plan(PlanRequest(sources=(source,), fleet=fleet, steps=0, with_fixes=False))


def reason_against(plan: Plan) -> str:
    """Return the reason why a plan doesn't fit: the code of the first reason, with the resource or
    label.
    """
    reasons = [reason for workload in plan.workloads for reason in workload.reasons]
    found = [(each.code, each.message) for each in reasons]
    found += [(each.code, each.message) for each in plan.findings if each.severity == "error"]
    code, message = found[0] if found else ("no reason", "")
    return f"{code}: {message}"[:_LONGEST]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minors", type=int, nargs="*", default=[34, 36])
    parser.add_argument("--offline", action="store_true", help="without the API server")
    parser.add_argument("--plans", action="store_true", help="plan files before and after")
    given = parser.parse_args()
    faults: list[str] = []
    for minor in given.minors:
        files = list(migrated_files(given.folder, minor))
        _print_summary(minor, files)
        faults += _own_faults(files)
        rewritten = [each for each in files if each.is_rewritten]
        faults += _planned(minor, rewritten) if given.plans else []
        faults += [] if given.offline else _checked(minor, rewritten)
    for fault in faults:
        print(f"FAULT {fault}")
    return 1 if faults else 0


def _print_summary(minor: int, files: Sequence[Migrated]) -> None:
    """Print the files that aren't rewritten, each with its reason, and the results for all other
    files.
    """
    for each in files:
        for outcome in each.found.templates:
            if outcome.result is not Result.REWRITTEN and _UNREQUESTED not in outcome.reason:
                print(
                    f"1.{minor} {each.source.name}: {outcome.object}: {outcome.result.value}: "
                    f"{outcome.reason}"
                )
    rewritten = sum(each.is_rewritten for each in files)
    comments = sum(not each.lost_comments for each in files)
    print(
        f"1.{minor}: {len(files)} files, {rewritten} rewritten "
        f"({rewritten / max(1, len(files)):.1%}), {sum(each.is_idempotent for each in files)} "
        f"idempotent, {comments} with all comments",
        flush=True,
    )


def _own_faults(files: Sequence[Migrated]) -> Iterator[str]:
    for each in files:
        if not each.is_idempotent:
            yield f"{each.source.name}: a second migration changes it"
        yield from (f"{each.source.name}: lost the comment {text!r}" for text in each.lost_comments)


def _checked(minor: int, files: Sequence[Migrated]) -> list[str]:
    """Return the API server's errors for results whose originals it accepts."""
    faults: list[str] = []
    doubtful = 0
    with control_plane(Settings(minor, scheduling=False), within_seconds=600) as plane:
        server = ApiServer.of(plane)
        for each in files:
            before = rejections(server, each.source)
            new = set[str]() if before else rejections(server, Source(each.source.name, each.text))
            doubtful += bool(before)
            faults += [f"1.{minor} {each.source.name}: {text}" for text in sorted(new)]
    print(
        f"1.{minor}: {len(files) - doubtful} results checked; {doubtful} originals are rejected, "
        "for example because of placeholders",
        flush=True,
    )
    return faults


def _planned(minor: int, files: Sequence[Migrated]) -> list[str]:
    """Return the results that don't fit on DRA pools, although their originals fit on the same
    machines.
    """
    fleets = fleet_of(minor, before=True), fleet_of(minor)
    pairs, faults, reasons = Counter[tuple[str, str]](), [], Counter[str]()
    for each in files:
        before = plan_of(fleets[0], each.source)
        after = plan_of(fleets[1], Source(each.source.name, each.text))
        pairs[before.running, after.running] += 1
        if after.running != "fits":
            reasons[reason_against(after).partition(":")[0]] += 1
        if before.running == "fits" and after.running != "fits":
            faults.append(
                f"1.{minor} {each.source.name}: fits only before: {reason_against(after)}"
            )
    for (old, new), count in sorted(pairs.items()):
        print(f"1.{minor}: {count} plans: {old} with the device plugin, {new} with claims")
    print(f"1.{minor}: reasons: {dict(reasons.most_common())}", flush=True)
    return faults


if __name__ == "__main__":
    sys.exit(main())
