"""Compare our CEL engine with upstream's own CEL tables.

    python conformance/cel/upstream_table.py --minor 36

The Go module is copied to a scratch folder, and our recording tests are added to its own tests.
When its tables run there, they write the inputs and results as JSON lines to the cache, never to
this repository. The exit status is 1 if there is a difference.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "planner")]

from dra_planner.cel import Dialect, RejectedSelector, SelectorOutcome, compile, prepare  # noqa: E402
from dra_planner.cel.checking.checker import check  # noqa: E402
from dra_planner.cel.cost.estimator import estimate  # noqa: E402
from dra_planner.cel.evaluation.evaluator import compile_tree  # noqa: E402
from dra_planner.cel.evaluation.state import State  # noqa: E402
from dra_planner.cel.syntax.parser import ParseError, parse  # noqa: E402
from dra_planner.cel.types import ANY, BOOL, DYN, INT, SEMVER, STRING, CelType  # noqa: E402
from dra_planner.cel.values import CelError, SemverValue  # noqa: E402
from dra_planner.releases import features_of  # noqa: E402
from run import cache  # noqa: E402  (found through the line above)

VERSIONS = {34: "0.34.9", 35: "0.35.6", 36: "0.36.3", 37: "0.37.2"}
MODULE = "k8s.io/dynamic-resource-allocation"


def records(minor: int) -> list[dict[str, Any]]:
    """Return upstream's tables for a minor version, with the results of each record."""
    recorded = cache() / f"cel-table-{VERSIONS[minor]}.jsonl"
    if not recorded.exists():
        print(f"recording upstream's tables of {VERSIONS[minor]}", file=sys.stderr)
        _record(minor, recorded)
    return [json.loads(line) for line in recorded.read_text().splitlines()]


def _record(minor: int, target: Path) -> None:
    download = ["go", "mod", "download", "-json", f"{MODULE}@v{VERSIONS[minor]}"]
    found = subprocess.run(download, capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "module"
        shutil.copytree(json.loads(found.stdout)["Dir"], copy)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        shutil.copytree(HERE.parent / "exact", copy / "zzexact")
        for source in (HERE / "record").glob("*_test.go"):
            if _is_wanted(source, copy / "cel"):
                shutil.copy(source, copy / "cel" / f"zz_{source.name}")
        table = copy / "cel" / "compile_test.go"
        hook = ["go", "run", str(HERE / "record" / "hook" / "main.go")]
        hooked = subprocess.run(hook, input=table.read_bytes(), capture_output=True, check=True)
        table.write_bytes(hooked.stdout)
        part = Path(scratch) / "recorded"
        run = subprocess.run(
            ["go", "test", "-mod=mod", "-trimpath", "-vet=off", "-count=1", "./cel"],
            cwd=copy,
            env={**os.environ, "RECORD_OUT": str(part)},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            sys.exit(
                f"upstream's tables of {VERSIONS[minor]} could not be "
                f"recorded:\n{run.stdout[-3000:]}{run.stderr}"
            )
        shutil.move(part, target)


def _is_wanted(source: Path, package: Path) -> bool:
    """Return True if the first line of a recorder names no declaration, or a declaration that this
    version has.
    """
    first = source.read_text().splitlines()[0]
    needed = first.removeprefix("// needs: ") if first.startswith("// needs: ") else ""
    return not needed or any(needed in file.read_text() for file in package.glob("*.go"))


def dialect_of(record: dict[str, Any], minor: int) -> Dialect:
    """Return the dialect in which a record was created."""
    features = record["features"]
    gates = features_of(minor).with_gates(
        list_attributes=bool(features.get("ListTypeAttributes")),
        consumable_capacity=bool(features.get("ConsumableCapacity")),
    )
    return Dialect.of(gates, "new" if record["new"] else "stored")


def judge(record: dict[str, Any], minor: int) -> str:
    """Return the difference between the engine and upstream, or an empty text if they agree."""
    text, dialect = record["cel"][0], dialect_of(record, minor)
    if record.get("derived"):
        return _judge_derived(record, text, dialect)
    selector = compile(text, dialect)
    if isinstance(selector, RejectedSelector) and selector.kind != "cost":
        return "" if record.get("compileError") else f"refused: {selector.message}"
    if record.get("compileError"):
        return f"compiles: {record['compileError']}"
    if isinstance(selector, RejectedSelector):
        return "" if record["maxCost"] > 1_000_000 else f"refused: {selector.message}"
    if selector.estimated_cost != record["maxCost"]:
        return f"estimate {selector.estimated_cost}, not {record['maxCost']}"
    ours = selector.matches(record["device"])
    return (
        ""
        if any(_same(ours, o) for o in record["outcomes"])
        else f"{ours}, not {record['outcomes']}"
    )


def _same(ours: SelectorOutcome, theirs: dict[str, Any]) -> bool:
    if ours.cost != theirs.get("actualCost", ours.cost) and "cost limit" not in ours.message:
        return False
    if theirs.get("error"):
        return ours.verdict == "error"
    return ours.verdict == ("match" if theirs["match"] else "no-match")


# -- derived attributes: expressions whose result is a value instead of a verdict


def _judge_derived(record: dict[str, Any], text: str, dialect: Dialect) -> str:
    refused = record.get("compileError", "")
    try:
        tree = parse(text, dialect)
        issues = check(tree, dialect)
        if issues or not _may_be_attribute(tree.type, dialect):
            return "" if refused else f"refused: {issues or tree.type}"
        closure, slots = compile_tree(tree, dialect)
    except (ParseError, CelError) as error:
        return "" if refused else f"refused: {error}"
    if refused:
        return f"compiles: {refused}"
    if estimate(tree, dialect) != record["maxCost"]:
        return f"estimate {estimate(tree, dialect)}, not {record['maxCost']}"
    device = prepare(record["device"]) if record.get("device") else None
    if device is None or not record.get("outcomes"):
        return ""
    state = State(device, device.quantities(), slots, 1_000_000)
    try:
        ours: Any = _attribute(closure(state))
    except CelError as error:
        ours = error
    for outcome in record["outcomes"]:
        theirs = outcome.get("value")
        if isinstance(ours, CelError) if outcome.get("error") else ours == theirs:
            return ""
    return f"{ours!r}, not {record['outcomes']}"


def _may_be_attribute(t: CelType, dialect: Dialect) -> bool:
    scalars = (BOOL, INT, STRING, ANY, DYN, SEMVER)
    lists = dialect.list_attributes or dialect.environment == "stored"
    return t in scalars or (lists and t.kind == "list" and t.parameters[0] in scalars)


def _attribute(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        if not value:
            return {"strings": []}
        kinds = {k for item in value for k in _attribute(item)}
        if len(kinds) > 1:
            raise CelError("unsupported list element type")
        kind = kinds.pop()
        return {kind + "s": [_attribute(item)[kind] for item in value]}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, SemverValue):
        return {"version": value.text}
    raise CelError("unsupported CEL return type")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor", type=int, action="append", choices=tuple(VERSIONS), help="default: all"
    )
    failed = False
    for minor in parser.parse_args().minor or tuple(VERSIONS):
        table = records(minor)
        wrong = [(record, problem) for record in table if (problem := judge(record, minor))]
        for record, problem in wrong:
            print(
                f"{record['name']} {dialect_of(record, minor)}\n  {record['cel'][0].strip()}\n  "
                f"{problem}"
            )
        print(f"1.{minor}: {len(table) - len(wrong)} of {len(table)} records of upstream's tables")
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
