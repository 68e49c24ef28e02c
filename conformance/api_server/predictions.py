"""Send the output of `pulumi-dra slices` to a real server, which must accept every slice and store
it unchanged.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml
from client import Answer, Client, Json, ask
from msgspec import Struct, structs

from compare import listed_changes
from dra_command.__main__ import main as pulumi_dra
from dra_planner import catalog, clouds
from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError

TESTS: Final = Path(__file__).resolve().parents[2] / "tests"
_SETTINGS: Final = (
    (),
    ("--gate", "DynamicMIG=true"),
    ("--gate", "ConsumableShares=true", "--consumable-shares", "10"),
    ("--gate", "ConsumableShares=true", "--consumable-shares", "memory"),
    ("--gate", "ConsumableShares=true", "--consumable-shares", "unlimited"),
    ("--gate", "PassthroughSupport=true"),
    ("--compute-domains",),
    ("--network",),
)


class Refused(Struct, frozen=True):
    """A document that the server didn't accept, or didn't store unchanged. `name` identifies the
    command that printed it.
    """

    name: str
    reason: str


def command_lines(minor: int) -> Iterator[tuple[str, ...]]:
    """Yield the arguments of `slices` for each machine type, driver, setting, and named MIG
    configuration in the catalog.
    """
    for cloud in clouds.names():
        for machine in catalog.machines(cloud):
            base = (
                "slices",
                "--cloud",
                cloud,
                "--machine",
                machine.name,
                "--kubernetes",
                f"1.{minor}",
            )
            if machine.accelerator is None or machine.accelerator.gpu is None:
                yield base
                continue
            model = nvidia.gpu(machine.accelerator.gpu)
            for driver in nvidia.driver_releases():
                if driver.is_installable:
                    release = (*base, "--driver", driver.version)
                    yield from ((*release, *settings) for settings in _SETTINGS)
                    yield from ((*release, "--mig", layout) for layout in nvidia.mig_layouts(model))


def printed(line: tuple[str, ...]) -> list[Json]:
    """Return the documents that a command prints, or nothing if the command reports that the
    combination isn't possible.
    """
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        status = pulumi_dra(line)
    if status:
        return []
    return [each for each in yaml.load_all(output.getvalue(), Loader=yaml.CSafeLoader) if each]


def golden_slices(minor: int) -> Iterator[tuple[str, str, Json]]:
    """Yield (name, YAML, value) for the slices of the golden combinations, predicted for this minor
    version.
    """
    golden = module_of_tests("planner/slices/test_golden.py")
    for name, case in golden.CASES.items():
        try:
            text = golden.render(structs.replace(case, minor=minor))
        except PlannerError:
            continue
        for document in yaml.load_all(text, Loader=yaml.CSafeLoader):
            yield name, yaml.safe_dump(document, sort_keys=False), document


def module_of_tests(path: str) -> Any:
    """Return a module in tests/."""
    spec = importlib.util.spec_from_file_location(f"tests_{Path(path).stem}", TESTS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def check_slices(
    client: Client, minor: int, *, golden_only: bool = False
) -> tuple[list[Refused], Counter[str]]:
    """Return the predicted slices with differences, and the total numbers. Each different slice is
    sent only once.
    """
    counts: Counter[str] = Counter()
    by_text = {text: (name, document) for name, text, document in golden_slices(minor)}
    counts["golden slices"] = len(by_text)
    for line in () if golden_only else command_lines(minor):
        documents = printed(line)
        counts[
            "command lines" if documents else "impossible commands or commands without output"
        ] += 1
        for document in documents:
            counts["slices"] += 1
            text = yaml.safe_dump(document, sort_keys=False)
            by_text.setdefault(text, (" ".join(line), document))
    counts["different slices"] = len(by_text)
    return check_documents(
        client, [(name, text, document) for text, (name, document) in by_text.items()], counts
    ), counts


def check_documents(
    client: Client,
    given: Iterable[tuple[str, str, Json]],
    counts: Counter[str],
    *,
    exact: bool = True,
) -> list[Refused]:
    """Return the documents, as (name, YAML, value), that a server rejects.

    If `exact` is True, also return the documents that the server changes. Fields that the server
    fills in are counted by name.
    """
    documents = list(given)
    answers = ask(client, [(text, document, "Strict") for _, text, document in documents])
    found: list[Refused] = []
    for (name, _, document), theirs in zip(documents, answers, strict=True):
        found += [
            Refused(name, reason) for reason in _faults(document, theirs, counts, exact=exact)
        ]
    return found


def _faults(document: Any, theirs: Answer, counts: Counter[str], *, exact: bool) -> Iterator[str]:
    if theirs.reason:
        yield f"{document.get('kind')}: {theirs.reason}: {theirs.message[:500]}"
        return
    for path, what, value in listed_changes(theirs, document):
        if what == "defaulted":
            if value is not None and document["apiVersion"].startswith("resource.k8s.io/"):
                counts[f"filled in: {path.rpartition('.')[2]}"] += 1
        elif what == "dropped" or exact:
            yield f"{path} is {what}: stored as {value}"
