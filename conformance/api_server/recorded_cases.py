"""Compare the recorded cases of tests/planner/manifests with another real API server.

    python conformance/api_server/recorded_cases.py --minor 37          print the records that
                                                                        differ from this server
    python conformance/api_server/recorded_cases.py --minor 37 --write  write the server's responses
                                                                        to the case files

A case with one verdict has this verdict in every version. If this server responds differently, the
case gets an entry for each version. Two kinds of cases are omitted: cases about texts, which
kubectl reads, and cases for a server that limits critical priorities.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

from client import NOT_ASKED, PANIC, Answer, Client, kubectl_json
from features import as_planned
from predictions import module_of_tests
from reader import objects_of

from compare import listed_changes
from dra_planner.releases import GATES
from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.tools.kubernetes import MODULES

Case = Mapping[str, Any]
Json = dict[str, Any]
MODES: Final = {"create": "Strict", "lenient": "Ignore", "apply": "Apply"}
STORED: Final = {"create": "stored", "lenient": "lenient_stored"}
CHANGED: Final = ("dropped", "defaulted", "rewritten")
WAIT: Final = 600.0  # seconds until a server is ready on a busy machine
SETTLING: Final = 1.0  # seconds until admission knows new objects
TABLE: Final = module_of_tests("planner/manifests/test_server_verdicts.py")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minor", type=int, required=True, choices=tuple(MODULES))
    parser.add_argument("--write", action="store_true", help="write the responses to the files")
    arguments = parser.parse_args()
    version, found = f"1.{arguments.minor}", 0
    for gates, cases in _by_gates(arguments.minor).items():
        with control_plane(
            Settings(arguments.minor, dict(gates), scheduling=False), within_seconds=WAIT
        ) as plane:
            client = Client(ApiServer.of(plane))
            for group, case in cases:
                for key, value in _answers(client, case):
                    recorded = case.get(key)
                    if (
                        _is_per_release(recorded)
                        and version in recorded
                        and _agrees(recorded[version], value, key)
                    ):
                        continue
                    if not _is_per_release(recorded) and _agrees(recorded, value, key):
                        continue
                    found += 1
                    print(f"{group} {case['id']} {key}: {value}, recorded {recorded}", flush=True)
                    if arguments.write:
                        _write(group, case, key, version, value)
    print(f"{version}: {found} responses differ from the files")
    return int(found > 0 and not arguments.write)


def _by_gates(minor: int) -> dict[tuple[tuple[str, bool], ...], list[tuple[str, Case]]]:
    """Return the cases to run, by the feature gates that their server needs."""
    found: dict[tuple[tuple[str, bool], ...], list[tuple[str, Case]]] = {}
    for group, case in TABLE.CASES:
        gates = {GATES[name]: on for name, on in (case.get("gates") or {}).items()}
        if group in TABLE.TEXT_GROUPS or not all(gate.is_known(minor) for gate in gates):
            continue
        named = as_planned(minor) | {gate.name: on for gate, on in gates.items()}
        found.setdefault(tuple(sorted(named.items())), []).append((group, case))
    return found


def _answers(client: Client, case: Case) -> Iterator[tuple[str, Any]]:
    """Yield (field of the case, its new value) for each request to the server."""
    with _given(client, case):
        for key, mode in MODES.items():
            if case.get(key) is None:
                continue
            (item,) = objects_of(TABLE.expand(case["manifest"], case))
            text = TABLE.expand(case["manifest"], case)
            answer = (
                client.change(item.data)
                if case.get("change")
                else client.create(text, item.data, mode)
            )
            if answer.reason in (NOT_ASKED, PANIC):
                continue
            yield key, _verdict(answer)
            if (
                not answer.reason
                and key in STORED
                and (case.get(STORED[key]) or not case.get("change"))
            ):
                yield STORED[key], _stored(answer, item)


def _verdict(answer: Answer) -> Any:
    if not answer.reason:
        return "accepted"
    verdict: Json = {"reason": answer.reason}
    if answer.reason == "Invalid":
        verdict["errors"] = [
            {"field": field, "reason": reason} for field, reason in sorted(answer.faults)
        ]
    return verdict


def _stored(answer: Answer, item: Any) -> Json:
    stored: Json = {}
    for path, what, value in listed_changes(answer, item.data):
        if item.group != "resource.k8s.io" and not TABLE.DEVICE_FIELDS.search(path):
            continue
        # skip empty values, and generated names
        if what == "defaulted" and (value is None or path == "metadata.name"):
            continue
        if what == "dropped":
            stored.setdefault(what, []).append(path)
        elif what == "defaulted":
            stored.setdefault(what, {})[path] = "<now>" if path.endswith("timeAdded") else value
        else:
            stored.setdefault(what, {})[path] = {"sent": _at(item.data, path), "stored": value}
    return stored


def _at(data: Any, path: str) -> Any:
    for step in re.findall(r"\[([^\]]+)\]|([^.\[\]]+)", path):
        name = step[0] or step[1]
        data = data[int(name)] if isinstance(data, list) else data[name]
    return data


def _is_per_release(recorded: Any) -> bool:
    return isinstance(recorded, dict) and any(name.startswith("1.") for name in recorded)


def _agrees(recorded: Any, value: Any, key: str) -> bool:
    """Return True if a record matches a response, as far as the table's test checks the record."""
    if key in STORED.values():
        recorded = recorded or {}
        if recorded.get("defaulted_more"):
            return recorded["defaulted"].items() <= value.get("defaulted", {}).items()
        dropped = [path for path in recorded.get("dropped", ()) if not path.startswith("status")]
        recorded = {**recorded, "dropped": dropped}
        return all((recorded.get(what) or None) == (value.get(what) or None) for what in CHANGED)
    if isinstance(recorded, str) or isinstance(value, str):
        return bool(recorded == value)
    if recorded["reason"] != value["reason"] or "errors" not in recorded or "errors" not in value:
        return bool(recorded["reason"] == value["reason"])
    if "any_of" in recorded["errors"][0]:
        return bool(
            {error["field"] for error in value["errors"]} & set(recorded["errors"][0]["any_of"])
        )
    return {(each["field"], each["reason"]) for each in recorded["errors"]} == {
        (each["field"], each["reason"]) for each in value["errors"]
    }


@contextmanager
def _given(client: Client, case: Case) -> Iterator[None]:
    """Create the objects that a case requires, and delete them after the case."""
    made: list[str] = []
    for item in objects_of(TABLE.expand(case.get("given") or "", case)):
        path = client.path_of(item.data)
        body = kubectl_json(item.data).encode()
        status, answer, _ = client.call("POST", str(path), body)
        if status >= 300:
            sys.exit(
                f"case {case['id']}: the server rejects an object that the case needs: "
                f"{answer.get('message')}"
            )
        made.append(f"{path}/{item.name}")
        if item.kind == "ResourceQuota" and "status" not in item.data:
            hard = item.data["spec"]["hard"]
            filled = {**item.data, "status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
            client.call("PUT", f"{made[-1]}/status", kubectl_json(filled).encode())
    if made:
        time.sleep(SETTLING)
    yield
    for where in reversed(made):
        client.call("DELETE", where)
        name = where.rpartition("/")[2]
        if where.startswith("/api/v1/namespaces/") and where.count("/") == 4:
            left = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name},
                "spec": {"finalizers": []},
            }
            client.call("PUT", f"{where}/finalize", kubectl_json(left).encode())
    if made:
        time.sleep(SETTLING)


def _write(group: str, case: Case, key: str, version: str, value: Any) -> None:
    """Write a response to the text of its case. The rest of the file stays unchanged."""
    path = TABLE.FOLDER / f"{group}.yaml"
    recorded = case.get(key)
    entries = dict(recorded) if _is_per_release(recorded) else {}
    if not entries and recorded is not None:
        entries = {f"1.{minor}": recorded for minor in MODULES if f"1.{minor}" != version}
    entries[version] = value
    block = yaml.safe_dump({key: entries}, sort_keys=False, width=1000, allow_unicode=True)
    indented = "".join(f"  {line}\n" for line in block.splitlines())
    text = path.read_text("utf-8")
    start = re.search(rf"^- (?:.*\n)(?:  .*\n)*?  id: '?{case['id']}'?\n", text, re.MULTILINE)
    assert start is not None, case["id"]
    end = re.compile(r"^- ", re.MULTILINE).search(text, start.end())
    body = text[start.end() : end.start() if end else len(text)]
    field = re.compile(rf"^  {key}:.*\n(?:    .*\n|  - .*\n)*", re.MULTILINE)
    body = field.sub(lambda _: indented, body, count=1) if field.search(body) else body + indented
    path.write_text(text[: start.end()] + body + (text[end.start() :] if end else ""), "utf-8")
    case[key] = entries  # type: ignore[index]


if __name__ == "__main__":
    sys.exit(main())
