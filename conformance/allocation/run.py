"""Compare our allocator with upstream's on random cases and on upstream's own table.

    python conformance/allocation/run.py                              all minor versions: 20 000
                                                                      random cases each, and the
                                                                      tables
    python conformance/allocation/run.py --minor 36 --count 500 --seed 7
    python conformance/allocation/run.py --minor 36 --case 36-7-123   repeat one random case, and
                                                                      print all its details
    python conformance/allocation/run.py --patch 1.36.2 --count 5000  compare with an older patch
                                                                      version
    python conformance/allocation/run.py --recorded                   compare fixed cases with the
                                                                      results that --record stored

The exit status is 1 if a minor version has a difference. The run then ends after that version, and
prints some of the differences, reduced to small cases.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

import recorded_answers  # noqa: E402  (found through the line above, as all that follow)

from answer import answer, features_from  # noqa: E402
from compare import difference  # noqa: E402
from generate import make_case  # noqa: E402
from patches import Patch, parse_patch  # noqa: E402
from referee import MINORS, ask  # noqa: E402
from shrink import shrink  # noqa: E402
from upstream_table import upstream_cases  # noqa: E402

Json = dict[str, Any]
CHUNK = 500
SHOWN = 3
CRASH = "runtime error: invalid memory address"
"""A message of older patch versions that crash on some cases. Such a crash doesn't show how they
choose devices.
"""
ALPHA = {"CompatibilityGroups", "DerivedAttributes", "OptionalNodeOperations"}
BEYOND = {
    "unknown-allocation-mode",
    "unknown-selector",
    "with-distinct-constraints-unknown-type-attribute",
    "list-attributes-distinct-constaint-with-empty-or-unknown-type",
    "list-attributes-match-constaint-with-empty-or-unknown-type",
}


def main() -> int:
    arguments = _arguments()
    if arguments.case:
        return _show(arguments.case, arguments.patch[0] if arguments.patch else None)
    failed = False
    for patch in arguments.patch or ():
        failed |= not _check_random(patch.minor, arguments.count, arguments.seed, patch)
    for minor in arguments.minor or (() if arguments.patch else MINORS):
        if arguments.record:
            cases = _fixed_cases(minor)
            recorded_answers.keep("allocation", minor, cases, list(ask(minor, cases)))
            continue
        if arguments.recorded:
            failed |= not _check_recorded(minor)
            continue
        if arguments.count:
            failed |= not _check_random(minor, arguments.count, arguments.seed)
        if not arguments.no_table:
            failed |= not _check_table(minor)
    return int(failed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor",
        type=int,
        action="append",
        choices=MINORS,
        help="minor version of Kubernetes; can be repeated",
    )
    parser.add_argument(
        "--count", type=int, default=20_000, help="random cases for each minor version; 0 for none"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--patch",
        type=_patch,
        action="append",
        help="random cases for an older patch version; can be repeated",
    )
    parser.add_argument("--case", help="print one random case by its name: minor-seed-number")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument(
        "--recorded",
        action="store_true",
        help="compare fixed cases with the stored responses",
    )
    kept.add_argument(
        "--record",
        action="store_true",
        help="run the fixed cases with upstream, and store its responses",
    )
    parser.add_argument("--no-table", action="store_true", help="omit upstream's own table")
    return parser.parse_args()


def _patch(text: str) -> Patch:
    try:
        patch = parse_patch(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if patch.minor not in MINORS:
        raise argparse.ArgumentTypeError(
            f"1.{patch.minor} isn't one of the compared minor versions"
        )
    return patch


def _check_random(minor: int, count: int, seed: int, patch: Patch | None = None) -> bool:
    start, verdicts, bad = time.perf_counter(), Counter[str](), []
    for first in range(0, count, CHUNK):
        cases = [make_case(n, minor, seed) for n in range(first, min(first + CHUNK, count))]
        for case, ours, reason, unanswered in _judge(cases, minor, patch):
            verdicts[ours["verdict"]] += 1
            verdicts["unanswered by upstream"] += unanswered
            if reason:
                bad.append(case)
                if len(bad) <= SHOWN:
                    _report(case, minor, reason, patch)
    mix = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common() if n)
    seconds = time.perf_counter() - start
    release = f"1.{minor}" + (f".{patch.patch}" if patch else "")
    print(
        f"{release}: {count} random cases (seed {seed}: {mix}), {len(bad)} differences, "
        f"{seconds:.0f} s",
        flush=True,
    )
    return not bad


def _fixed_cases(minor: int) -> list[Json]:
    return [make_case(n, minor, recorded_answers.SEED) for n in range(recorded_answers.COUNT)]


def _check_recorded(minor: int) -> bool:
    cases = _fixed_cases(minor)
    judged = list(_judged(cases, recorded_answers.kept("allocation", minor, cases), minor))
    bad = [(case, reason) for case, _, reason, _ in judged if reason]
    for case, reason in bad[:SHOWN]:
        print(f"{case['id']}: {reason}\n", flush=True)
    mix = ", ".join(
        f"{n} {verdict}"
        for verdict, n in Counter(ours["verdict"] for _, ours, _, _ in judged).most_common()
    )
    print(f"1.{minor}: {len(cases)} recorded cases ({mix}), {len(bad)} differences", flush=True)
    return not bad


def _judge(
    cases: list[Json], minor: int, patch: Patch | None = None
) -> Iterator[tuple[Json, Json, str, bool]]:
    """Run the cases with upstream. Yield each case with our outcome, the difference, and whether
    upstream gave up.
    """
    return _judged(cases, ask(minor, cases, patch.version if patch else ""), minor, patch)


def _judged(
    cases: list[Json], answers: Iterable[Json], minor: int, patch: Patch | None = None
) -> Iterator[tuple[Json, Json, str, bool]]:
    for case, theirs in zip(cases, answers, strict=True):
        ours = _answer(case, minor, patch)
        fault = theirs.get("fault", "")
        outcomes = theirs.get("outcomes", [])
        crashed = patch is not None and any(CRASH in o.get("error", "") for o in outcomes)
        unanswered = crashed or any(o["verdict"] == "timeout" for o in outcomes)
        yield (
            case,
            ours,
            "" if crashed else fault or difference(copy.deepcopy(ours), outcomes),
            unanswered,
        )


def _answer(case: Json, minor: int, patch: Patch | None = None) -> Json:
    try:
        return answer(
            case, minor, patch.behaviour(features_from(case["features"], minor)) if patch else None
        )
    # an error in our code is reported as a difference, so that the other cases continue
    except Exception as error:
        return {"verdict": "fault", "error": f"{type(error).__name__}: {error}"}


def _report(case: Json, minor: int, reason: str, patch: Patch | None) -> None:
    def differs(smaller: list[Json]) -> list[bool]:
        return [bool(text) for _, _, text, _ in _judge(smaller, minor, patch)]

    small = shrink(case, differs)
    print(f"{case['id']}: {reason}\nshrunk: {json.dumps(small)}\n", flush=True)


def _check_table(minor: int) -> bool:
    bad = total = beyond = 0
    for case in upstream_cases(minor):
        if case.get("interrupt") or not case["nodes"] or _is_beyond(case):
            beyond += 1
            continue
        total += 1
        outcomes = _recorded(case)
        ours = _answer({**case, "id": case["name"]}, minor)
        reason = difference(
            _unordered(ours) if case["runs"][case["pick"]].get("unordered") else ours, outcomes
        )
        if reason:
            bad += 1
            print(f"1.{minor} upstream's {case['name']}: {reason}\n", flush=True)
    left_out = f" ({beyond} beyond the model)" if beyond else ""
    print(f"1.{minor}: {total} cases of upstream's table{left_out}, {bad} differences", flush=True)
    return not bad


def _is_beyond(case: Json) -> bool:
    """Return True if a case contains something that no API server with this version would store:
    objects of newer versions, an attribute without a value, or the alpha features of 1.37, whose
    fields default servers drop.
    """
    if case["name"] in BEYOND or ALPHA & {name for name, on in case["features"].items() if on}:
        return True
    return any(
        word in json.dumps(case["slices"]) for word in ("compatibilityGroups", "skipNodeOperations")
    )


def _recorded(case: Json) -> list[Json]:
    """Return upstream's results in the referee's format. If upstream's implementations differ, each
    of their results counts as correct.
    """
    return [_outcome(o) for run in case["runs"].values() for o in run.get("outcomes", ())]


def _outcome(recorded: Json) -> Json:
    made: Json = {"verdict": "fit" if recorded["verdict"] == "empty" else recorded["verdict"]}
    if recorded.get("error"):
        made |= {"error": recorded["error"], "nodeOnly": recorded.get("nodeOnly", False)}
    if recorded.get("results"):
        made["claims"] = [_claim(result) for result in recorded["results"]]
    return made


def _claim(result: Json) -> Json:
    devices = []
    for d in result["devices"].get("results") or ():
        device = {key: d[key] for key in ("request", "driver", "pool", "device")}
        if d.get("adminAccess"):
            device["admin"] = True
        if d.get("shareID"):
            device["shared"] = True
        if d.get("consumedCapacity"):
            device["consumed"] = {name: _number(q) for name, q in d["consumedCapacity"].items()}
        devices.append(device)
    claim: Json = {"devices": devices}
    if result.get("nodeSelector"):
        claim["nodeSelector"] = result["nodeSelector"]
    return claim


def _number(text: str) -> str:
    from answer import decimal_text
    from dra_planner.allocation.search.amounts import nano
    from dra_planner.quantity import Quantity

    return decimal_text(nano(Quantity.parse(text)))


def _unordered(outcome: Json) -> Json:
    """Return the outcome with the devices of each request in a fixed order, as in the recording,
    because upstream's order is random.
    """
    for claim in outcome.get("claims", ()):
        devices, made = claim["devices"], []
        while devices:
            request = devices[0]["request"]
            run = [d for d in devices if d["request"] == request]
            made += sorted(run, key=lambda d: json.dumps(d, sort_keys=True))
            devices = [d for d in devices if d["request"] != request]
        claim["devices"] = made
    return outcome


def _show(name: str, patch: Patch | None) -> int:
    minor, seed, number = map(int, name.split("-"))
    case = make_case(number, minor, seed)
    print(json.dumps(case, indent=1))
    ((_, ours, reason, _),) = _judge([case], minor, patch)
    print(json.dumps(ours, indent=1), reason or "as upstream", sep="\n")
    return int(bool(reason))


if __name__ == "__main__":
    sys.exit(main())
