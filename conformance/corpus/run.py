"""Check public manifests, which are fetched and never kept here: what is told of them, code by code.

    python conformance/corpus/run.py                 clones the repositories of `repositories.csv` (git is needed)
    python conformance/corpus/run.py --from DIR      takes DIR/OWNER+NAME/repo or DIR/OWNER/NAME, where they are
    python conformance/corpus/run.py --show CODE     prints the sentences of a code, file by file

Each file is checked as `pulumi-dra check FILE` does, and again beside a fleet. Of files that request no device only
what the API server itself would say may be told (`OF_THE_SERVER`); the run fails where more is, and prints it.
"""

from __future__ import annotations

import argparse
import csv
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan, read_checked
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

HERE = Path(__file__).parent
FEATURES = features_of(MAXIMUM_MINOR)
LARGEST = 200_000  # bytes: definitions of resources and dashboards are larger
DEVICES = re.compile(r"resource\.k8s\.io/|resourceClaims:|nvidia\.com/(gpu|mig-)|[a-z]+\.com/(gpu|tpu|neuron)")
OF_THE_SERVER = {
    "duplicate-key", "duplicate-object", "immutable-field", "invalid-value", "required-value", "unknown-field",
    "version-not-served", "wrong-type",
}  # fmt: skip


def fleet() -> Fleet:
    """Return a fleet with several GPUs per node, on which most examples fit."""
    document = yaml.safe_load((HERE / "fleet.yaml").read_text(encoding="utf-8"))
    return read_fleet({**document, "kubernetes": f"1.{MAXIMUM_MINOR}"})


def main() -> int:
    """Check the files, print what is told, and return 1 where something is told of files without devices."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, help="where the repositories are already")
    parser.add_argument("--show", action="append", default=[], metavar="CODE")
    parser.add_argument("--repository", action="append", default=[], metavar="OWNER/NAME", help="these alone")
    values = parser.parse_args()
    told: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    kinds, wrong = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in _files(values.folder or Path(scratch), values.repository, clone=values.folder is None):
            kind = "with devices" if DEVICES.search(text) else "without devices"
            kinds[kind] += 1
            for mode, found in _checked(name, text):
                for each in found:
                    told[f"{kind}, {mode}"][each.severity, each.code] += 1
                    if each.code in values.show:
                        print(f"{mode}: {name}: {each.message}; {each.fix}")
                    if kind == "without devices" and each.severity != "note" and each.code not in OF_THE_SERVER:
                        wrong.append(f"{mode}: {name}: {each.code}: {each.message}")
    print(", ".join(f"{count} files {kind}" for kind, count in sorted(kinds.items())))
    for title, counts in sorted(told.items()):
        print(f"\n{title}")
        for (severity, code), count in counts.most_common():
            print(f"  {count:5} {severity:8} {code}")
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


def _checked(name: str, text: str) -> Iterator[tuple[str, list[Diagnostic]]]:
    """Yield what is told of a file alone, and beside a fleet; nothing where it cannot be read."""
    source = Source(name, text)
    try:
        yield "alone", list(check_all(view_of(read_checked((source,), FEATURES), FEATURES)))
        plan = make_plan(PlanRequest(fleet=fleet(), sources=(source,), devices_only=True))
        assert plan.manifests is not None
        yield "beside a fleet", list(check_all(view_of(plan.manifests, FEATURES, plan)))
    except PlannerError as error:
        yield "alone", [Diagnostic("note", "cannot-be-read", error.message)]


def _files(folder: Path, chosen: list[str], *, clone: bool) -> Iterator[tuple[str, str]]:
    """Yield the manifests of all repositories, by repository and path; templates are left out."""
    with (HERE / "repositories.csv").open(encoding="utf-8", newline="") as rows:
        repositories: list[dict[str, Any]] = list(csv.DictReader(rows))
    for row in repositories:
        owner, _, name = row["repository"].partition("/")
        if chosen and row["repository"] not in chosen:
            continue
        places = (folder / f"{owner}+{name}" / "repo", folder / owner / name)
        if clone:
            url = f"https://github.com/{owner}/{name}"
            subprocess.run(["git", "clone", "-q", "--depth", "1", url, str(places[1])], check=True)
        place = next((each for each in places if each.exists()), None)
        if place is None:
            print(f"not there: {row['repository']}", file=sys.stderr)
            continue
        for path in _git(place, "ls-tree", "-r", "--name-only", "HEAD").splitlines():
            if path.endswith((".yaml", ".yml")) and not path.startswith((".github", "charts/")):
                text = _git(place, "show", f"HEAD:{path}")
                if _is_manifest(text):
                    yield f"{row['repository']}/{path}", text


def _is_manifest(text: str) -> bool:
    is_object = re.search(r"^apiVersion:", text, re.MULTILINE) and re.search(r"^kind:", text, re.MULTILINE)
    return bool(is_object) and len(text) < LARGEST and "{{" not in text


def _git(place: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(place), *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf-8", errors="replace")


if __name__ == "__main__":
    sys.exit(main())
