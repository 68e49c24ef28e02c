"""Check public manifests, which are downloaded and never stored here. Every finding must be
justified.

    python conformance/corpus/run.py              download the commits of `repositories.csv` (this
                                                  needs git)
    python conformance/corpus/run.py --from DIR   use existing repositories in DIR/OWNER+NAME/repo
                                                  or DIR/OWNER/NAME
    python conformance/corpus/run.py --show CODE  print the findings with a code, file by file

Each repository is filtered as `pulumi-dra check FOLDER` filters files. Each remaining file is
checked by itself, and again with a fleet. `findings.csv` lists the expected findings (repository,
code, words of the message) and the reason why they are correct. The run fails if no row justifies
an error or a warning, if a row justifies no finding, or if there are fewer than 500 files.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from dra_command.inputs.command_inputs import mark_unrelated_files
from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan, read_checked
from dra_planner.releases import MAXIMUM_MINOR, features_of
from dra_planner.sources import KUSTOMIZATIONS, Source
from dra_policies.rules import check_all, view_of

HERE = Path(__file__).parent
FEATURES = features_of(MAXIMUM_MINOR)
LARGEST = 200_000  # bytes; definitions of resources and dashboards are larger
LEAST = 500  # files
DEVICES = re.compile(
    r"resource\.k8s\.io/|resourceClaims:|nvidia\.com/(gpu|mig-)|[a-z]+\.com/(gpu|tpu|neuron)"
)
EVERYWHERE = "*"
MODES = ("alone", "beside a fleet")


class Row(Struct, frozen=True):
    """The reason why a finding is correct: its repository (`*` for any), its code, and words of its
    message.
    """

    repository: str
    code: str
    words: str  # a regular expression that must match in the message or in the path of the file
    reason: str

    def justifies(self, repository: str, path: str, finding: Diagnostic) -> bool:
        """Return True if this row applies to a finding in a file."""
        if self.repository not in (EVERYWHERE, repository) or self.code != finding.code:
            return False
        return re.search(self.words, f"{path}: {finding.message}") is not None


class Tally(Struct):
    """The results: files by kind, findings by kind and mode, used rows, and findings that no row
    justifies.
    """

    rows: tuple[Row, ...]
    kinds: Counter[str] = field(default_factory=Counter[str])
    findings: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    used: set[Row] = set()
    unjustified: dict[str, None] = {}  # in order, without duplicates

    def add(self, repository: str, path: str, kind: str, mode: str, finding: Diagnostic) -> None:
        """Count a finding, and find the row that justifies it."""
        self.findings[f"{kind}, {mode}"][finding.severity, finding.code] += 1
        if finding.severity == "note":
            return
        row = next((row for row in self.rows if row.justifies(repository, path, finding)), None)
        if row is not None:
            self.used.add(row)
        else:
            self.unjustified[f"{repository}/{path}: {finding.code}: {finding.message}"] = None


def main() -> int:
    """Check the files, print the findings, and return 1 if some aren't justified."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--from", dest="folder", type=Path, help="folder with existing repositories"
    )
    parser.add_argument("--show", action="append", default=[], metavar="CODE")
    parser.add_argument(
        "--repository",
        action="append",
        default=[],
        metavar="OWNER/NAME",
        help="check only these repositories",
    )
    values = parser.parse_args()
    tally = Tally(tuple(Row(**row) for row in _table("findings.csv")))
    for row in _table("repositories.csv"):
        if not values.repository or row["repository"] in values.repository:
            with tempfile.TemporaryDirectory() as scratch:
                _check_repository(row, Path(scratch), values.folder, tally, values.show)
    return _report(tally, is_whole=not values.repository)


def _check_repository(
    row: dict[str, str], scratch: Path, folder: Path | None, tally: Tally, show: list[str]
) -> None:
    name, tree = row["repository"], scratch / "tree"
    _write_files(_repository(name, row["commit"], scratch, folder), row["commit"], tree)
    for source in _judged(tree):
        path = str(Path(source.name).relative_to(tree))
        kind = "with devices" if DEVICES.search(source.text) else "without devices"
        tally.kinds[kind] += 1
        for mode, found in _checked(replace(source, name=path)):
            for finding in found:
                tally.add(name, path, kind, mode, finding)
                if finding.code in show:
                    print(f"{mode}: {name}/{path}: {finding.message}; {finding.fix}")


def _report(tally: Tally, *, is_whole: bool) -> int:
    files = sum(tally.kinds.values())
    print(
        f"{files} files: "
        f"{', '.join(f'{count} {kind}' for kind, count in sorted(tally.kinds.items()))}"
    )
    for title, counts in sorted(tally.findings.items()):
        print(f"\n{title}")
        for (severity, code), count in counts.most_common():
            print(f"  {count:5} {severity:8} {code}")
    wrong = [f"not justified: {line}" for line in tally.unjustified]
    if is_whole:
        unused = (row for row in tally.rows if row not in tally.used)
        wrong += [f"justifies nothing: {row.repository}, {row.code}: {row.words}" for row in unused]
        wrong += [f"{files} files are fewer than {LEAST}"] if files < LEAST else []
    print("\n".join(wrong), file=sys.stderr)
    print(
        f"\n{len(tally.used)} rows justify findings;  {len(tally.unjustified)} findings are not "
        "justified"
    )
    return int(bool(wrong))


@cache
def fleet() -> Fleet:
    """Return a fleet with multiple GPUs per node, on which most examples fit."""
    document = yaml.safe_load((HERE / "fleet.yaml").read_text(encoding="utf-8"))
    return read_fleet({**document, "kubernetes": f"1.{MAXIMUM_MINOR}"})


def _checked(source: Source) -> Iterator[tuple[str, list[Diagnostic]]]:
    """Yield the findings for a file by itself and with a fleet, or the error if the file can't be
    read.
    """
    try:
        yield MODES[0], list(check_all(view_of(read_checked((source,), FEATURES), FEATURES)))
        plan = make_plan(PlanRequest(fleet=fleet(), sources=(source,), devices_only=True))
        assert plan.manifests is not None
        yield MODES[1], list(check_all(view_of(plan.manifests, FEATURES, plan)))
    except PlannerError as error:
        yield MODES[0], [Diagnostic("error", "cannot-be-read", error.message)]


def _judged(tree: Path) -> Iterator[Source]:
    """Yield the manifests of a repository, which are the files with objects that `check` doesn't
    skip.
    """
    files = sorted(path for path in tree.rglob("*") if path.suffix in (".yaml", ".yml"))
    sources = tuple(Source(str(path), path.read_text(encoding="utf-8")) for path in files)
    sources = tuple(source for source in sources if _has_object(source.text))
    marked, _ = mark_unrelated_files(sources, (str(tree),), "check") if sources else ((), ())
    yield from (source for source in marked if not source.left_alone)


def _has_object(text: str) -> bool:
    return (
        all(re.search(rf"^{key}:", text, re.MULTILINE) for key in ("apiVersion", "kind"))
        and len(text) < LARGEST
    )


def _repository(name: str, commit: str, scratch: Path, folder: Path | None) -> Path:
    """Return a repository that contains the commit. It's fetched if no folder is given."""
    owner, _, short = name.partition("/")
    if folder is not None:
        places = (folder / f"{owner}+{short}" / "repo", folder / owner / short)
        found = next((each for each in places if each.exists()), None)
        if found is None:
            sys.exit(f"{name} isn't in {folder}")
        return found
    place = scratch / "repository"
    _git(scratch, "init", "-q", str(place))
    _git(place, "fetch", "-q", "--depth", "1", f"https://github.com/{name}", commit)
    return place


def _write_files(repository: Path, commit: str, tree: Path) -> None:
    """Write the files that could be manifests, charts, or kustomizations. Files that don't exist in
    the repository are omitted.
    """
    listed = _git(repository, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")
    names = [
        path for path in listed if not path.startswith(".github") and _is_wanted(Path(path).name)
    ]
    queries = "".join(f"{commit}:{path}\n" for path in names)
    answers = io.BytesIO(_git(repository, "cat-file", "--batch", text=queries))
    for path in names:
        words = answers.readline().split()
        if words[-1] == b"missing":
            continue
        text = answers.read(int(words[-1]) + 1)[:-1].decode("utf-8", errors="replace")
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _is_wanted(name: str) -> bool:
    return name.endswith((".yaml", ".yml")) or name.lower() in KUSTOMIZATIONS


def _git(place: Path, *arguments: str, text: str = "") -> bytes:
    """Run git in a folder, and return its output. Raises CalledProcessError if it fails."""
    command = ["git", "-C", str(place), *arguments]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def _table(name: str) -> Iterable[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


if __name__ == "__main__":
    sys.exit(main())
