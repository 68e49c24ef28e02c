"""Compare our CEL engine with Kubernetes' own library on random selectors.

    python conformance/cel/run.py --minor 36 --count 20000 --seed 1

The command builds a program with the library if necessary (this needs Go), generates the cases, and
evaluates them with both. It prints every difference: whether a selector compiles, whether the API
server accepts it, and its result for each device. The exit status is 1 if there is a difference.
With --recorded, nothing is built, and the results of fixed cases are compared with those that
--record stored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "planner")]

import recorded_answers  # noqa: E402  (found through the line above)

from dra_planner.cel import RejectedSelector, compile  # noqa: E402
from dra_planner.cel.compilation import MAX_ESTIMATE  # noqa: E402
from dra_sandbox.cache import cache_folder  # noqa: E402
from generate import Case, cases  # noqa: E402

SHUFFLES = 40
# after this number of evaluations, a Go map with a few keys has been iterated over in all possible
# orders
REPEATS = 400


class Difference(Struct, frozen=True):
    """A case for which the two results differ."""

    kind: str
    case: Case
    ours: str
    theirs: str

    def __str__(self) -> str:
        return (
            f"{self.kind} [{self.case.identity}] {self.case.expression}\n  ours   {self.ours}\n "
            f" theirs {self.theirs}"
        )


def cache() -> Path:
    """Return the folder for builds and recordings, which all checkouts of a user share."""
    folder = cache_folder() / "conformance"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def build(minor: int) -> Path:
    """Return the program that runs the library of a minor version. It's built if necessary."""
    digest = hashlib.sha256()
    for source in (
        HERE / "main.go",
        HERE / "mods" / f"1.{minor}.mod",
        HERE / "mods" / f"1.{minor}.sum",
    ):
        digest.update(source.read_bytes())
    program = cache() / f"cel-1.{minor}-{digest.hexdigest()[:12]}"
    if program.exists():
        return program
    scratch = program.with_suffix(f".{os.getpid()}")
    command = ["go", "build", "-trimpath", f"-modfile=mods/1.{minor}.mod", "-o", str(scratch), "."]
    subprocess.run(command, cwd=HERE, check=True)
    scratch.replace(program)
    return program


def ask(program: Path, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the program's responses, in the order of the questions."""
    text = "\n".join(map(json.dumps, questions))
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def question(case: Case, repeat: int = 1) -> dict[str, Any]:
    """Return a case in the format that the program reads."""
    return {
        "id": case.identity,
        "expression": case.expression,
        "environment": case.dialect.environment,
        "listAttributes": case.dialect.list_attributes,
        "consumableCapacity": case.dialect.consumable_capacity,
        "repeat": repeat,
        "devices": case.devices,
    }


def compare(case: Case, answer: dict[str, Any], costs: bool) -> Difference | None:
    """Return the difference between the results of the engine and the library, or None."""
    selector = compile(case.expression, case.dialect)
    if answer.get("panicked"):
        return (
            None
            if isinstance(selector, RejectedSelector)
            else Difference("panic", case, "compiled", answer["refused"])
        )
    refused = answer.get("refused", "")
    if isinstance(selector, RejectedSelector):
        if selector.kind == "unsupported":
            return Difference("unsupported", case, selector.message, refused or "compiles")
        if refused and selector.kind != "cost":
            return None
        if not refused and selector.kind == "cost" and answer["estimated"] > MAX_ESTIMATE:
            return None
        return Difference(
            "compile",
            case,
            f"{selector.kind}: {selector.message}",
            refused or str(answer["estimated"]),
        )
    if refused:
        return Difference("compile", case, f"compiles to {selector.tree.type}", refused)
    admitted = selector.estimated_cost <= MAX_ESTIMATE
    if admitted != (answer["estimated"] <= MAX_ESTIMATE):
        return Difference("admission", case, str(selector.estimated_cost), str(answer["estimated"]))
    if costs and selector.estimated_cost != answer["estimated"]:
        return Difference("estimate", case, str(selector.estimated_cost), str(answer["estimated"]))
    for device, seen in zip(case.devices, answer.get("outcomes") or (), strict=False):
        ours = selector.matches(device)
        if all(ours.verdict != o["verdict"] for o in seen):
            return Difference("verdict", case, f"{ours} {json.dumps(device)}", json.dumps(seen))
        if costs and not _cut_short(ours.message) and all(ours.cost != o["cost"] for o in seen):
            return Difference("cost", case, f"{ours} {json.dumps(device)}", json.dumps(seen))
    return None


def _cut_short(message: str) -> bool:
    """Return True if the evaluation was aborted, so that its cost can't be compared."""
    return "cost limit exceeded" in message or message.startswith("internal error")


def settle(case: Case, answer: dict[str, Any], costs: bool) -> Difference | None:
    """Return the difference that remains after we have tried other orders of the keys.

    If the result of a selector depends on the order of a map's keys, upstream's result is random.
    Our engine uses the order of the document.
    """
    difference = compare(case, answer, costs)
    chance = random.Random(case.identity)
    for _ in range(SHUFFLES):
        if difference is None:
            return None
        devices = tuple(
            {
                **d,
                **{
                    k: dict(chance.sample(sorted(d[k].items()), len(d[k])))
                    for k in ("attributes", "capacity")
                },
            }
            for d in case.devices
        )
        if compare(structs.replace(case, devices=devices), answer, costs) is None:
            return None
    return difference


def run(minor: int, count: int, seed: int, costs: bool) -> tuple[list[Difference], Counter[str]]:
    """Return the differences for random cases, and the number of results of each kind."""
    program = build(minor)
    made = cases(minor, count, seed)
    answers = ask(program, [question(c) for c in made])
    doubtful = [
        case
        for case, answer in zip(made, answers, strict=True)
        if compare(case, answer, costs) is not None
    ]
    again = ask(program, [question(c, REPEATS) for c in doubtful]) if doubtful else []
    return _settled(zip(doubtful, again, strict=True), answers, costs)


def run_recorded(minor: int, costs: bool) -> tuple[list[Difference], Counter[str]]:
    """Return the same as `run`, for the fixed cases and the stored responses of a minor version."""
    made = cases(minor, recorded_answers.COUNT, recorded_answers.SEED)
    answers = recorded_answers.kept("cel", minor, [question(c) for c in made])
    return _settled(zip(made, answers, strict=True), answers, costs)


def record(minor: int) -> None:
    """Run the fixed cases with the library of a minor version, and store its responses.

    If our result differs, for example because it depends on the order of a map, the case is
    evaluated repeatedly.
    """
    program, made = build(minor), cases(minor, recorded_answers.COUNT, recorded_answers.SEED)
    questions = [question(c) for c in made]
    answers = ask(program, questions)
    doubtful = [
        n for n, case in enumerate(made) if compare(case, answers[n], costs=True) is not None
    ]
    for n, answer in zip(
        doubtful, ask(program, [question(made[n], REPEATS) for n in doubtful]), strict=True
    ):
        answers[n] = answer
    recorded_answers.keep("cel", minor, questions, answers)


def _settled(
    doubtful: Iterable[tuple[Case, dict[str, Any]]], answers: list[dict[str, Any]], costs: bool
) -> tuple[list[Difference], Counter[str]]:
    kinds: Counter[str] = Counter()
    for answer in answers:
        kinds["refused" if "refused" in answer else "compiled"] += 1
        for outcomes in answer.get("outcomes") or ():
            kinds[outcomes[0]["verdict"]] += 1
    found = [settle(case, answer, costs) for case, answer in doubtful]
    return [d for d in found if d is not None], kinds


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor", type=int, action="append", choices=(34, 35, 36, 37), help="default: all"
    )
    parser.add_argument(
        "--count",
        type=int,
        default=2000,
        help="selectors for each minor version (default %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="the same seed gives the same cases (default %(default)s)",
    )
    parser.add_argument(
        "--costs", action="store_true", help="estimated and actual costs must also be equal"
    )
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument(
        "--recorded",
        action="store_true",
        help="compare fixed cases with the stored responses",
    )
    kept.add_argument(
        "--record",
        action="store_true",
        help="run the fixed cases with the library, and store its responses",
    )
    parser.add_argument(
        "--show",
        type=int,
        default=20,
        help="differences to print for each minor version (default %(default)s)",
    )
    arguments = parser.parse_args()
    failed = False
    for minor in arguments.minor or (34, 35, 36, 37):
        started, count = (
            time.monotonic(),
            recorded_answers.COUNT if arguments.recorded else arguments.count,
        )
        if arguments.record:
            record(minor)
            continue
        if arguments.recorded:
            differences, kinds = run_recorded(minor, arguments.costs)
        else:
            differences, kinds = run(minor, count, arguments.seed, arguments.costs)
        for difference in differences[: arguments.show]:
            print(difference)
        answers = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()) if n)
        seconds = time.monotonic() - started
        print(
            f"1.{minor}: {count} selectors, {len(differences)} differences ({answers}) in "
            f"{seconds:.0f} s"
        )
        failed = failed or bool(differences)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
