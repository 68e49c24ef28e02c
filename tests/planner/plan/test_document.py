"""The plan document: the same bytes for the same input, a size that doesn't depend on replicas, and
the same result when evaluated again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plan_builders import EXAMPLES, deployment, example, fleet, plan_of
from test_real_life import CASES

from dra_planner.errors import PlanFileError
from dra_planner.fleet import Fleet, read_fleet, read_fleet_file
from dra_planner.model import Reason
from dra_planner.offers import predict_offers
from dra_planner.plan import judge_document, plan_file
from dra_planner.planfile import canonical_text, file_text, parse_document
from dra_planner.releases import features_of
from dra_planner.sources import Source, read_sources

POOLS = (("g6.2xlarge", {"min": 0, "max": 4}), ("p5.48xlarge", {"min": 0, "max": 8}))
MOST = {"min": 0, "max": 100_000}


def all_examples() -> tuple[Source, ...]:
    return (
        *example("workloads/shared-claim"),
        *example("workloads/two-pods"),
        *example("workloads/at-least-40-gb"),
        *example("workloads/job-two-gpus-each"),
        *example("workloads-that-do-not-fit/tesla-volta"),
    )


def test_plan_file_is_evaluated_on_other_offers() -> None:
    plan = plan_of(fleet(*POOLS), *example("workloads/job-two-gpus-each"))
    smaller = predict_offers(fleet(POOLS[0], ("p5.48xlarge", 0)), features_of(34))
    again = judge_document(plan_file(plan).document(), smaller)
    assert (plan.verdict, again.verdict) == ("fits", "does-not-fit")


def test_results_in_a_plan_file_are_recomputed() -> None:
    document = plan_file(
        plan_of(fleet(("g6.2xlarge", 1)), *example("workloads/two-pods"))
    ).document()
    document["verdict"] = "fits"
    document["pools"][0]["count"]["packing"] = 0
    assert judge_document(document).verdict == "does-not-fit"


@pytest.mark.parametrize("missing", ["fleet", "classes", "demand", "kubernetes"])
def test_incomplete_plan_file_is_rejected(missing: str) -> None:
    document = plan_file(plan_of(fleet(*POOLS), deployment())).document()
    del document[missing]
    with pytest.raises(PlanFileError, match="isn't a plan file"):
        judge_document(document)


def test_pool_without_an_offer_is_reported() -> None:
    plan = plan_of(fleet(*POOLS), deployment())
    with pytest.raises(PlanFileError, match="p5-48xlarge"):
        judge_document(plan_file(plan).document(), plan.offers[:1])


def test_document_order_does_not_change_the_plan_file() -> None:
    sources = all_examples()
    turned = tuple(
        Source(source.name, "\n---\n".join(reversed(source.text.split("\n---\n"))))
        for source in reversed(sources)
    )
    first, second = (plan_file(plan_of(fleet(*POOLS), *each)) for each in (sources, turned))
    assert first.document() == second.document()


def test_hash_seed_does_not_change_the_plan_file() -> None:
    code = (
        "import sys; from plan_builders import *; from dra_planner.plan import plan_file;"
        "from dra_planner.planfile import file_text; sys.stdout.write(file_text(plan_file(plan_of("
        "fleet(('g6.2xlarge', {'max': 4}), ('p5.48xlarge', {'max': 8})), *read_sources([EXAMPLES / "
        "'workloads'])))))"
    )
    texts = set()
    for seed in ("0", "4242"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(Path(__file__).parent),
        }
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        texts.add(done.stdout)
    assert len(texts) == 1


def test_plan_file_contains_no_path() -> None:
    text = file_text(plan_file(plan_of(fleet(*POOLS), *all_examples())))
    assert str(EXAMPLES) not in text
    assert ".yaml" not in text


def test_plan_file_size_does_not_depend_on_replicas() -> None:
    sizes = [
        len(
            file_text(
                plan_file(
                    plan_of(fleet(("p5.48xlarge", MOST)), deployment(replicas=replicas), steps=0)
                )
            )
        )
        for replicas in (10, 8_000, 800_000)
    ]
    assert max(sizes) <= 1.2 * min(sizes)


def test_number_of_calls_does_not_depend_on_replicas(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test counts calls instead of measuring time."""
    from dra_planner.sizing import doubts

    called = []
    place = doubts.place

    def counted(shape: object, state: object) -> object:
        called.append(shape)
        return place(shape, state)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(doubts, "place", counted)
    counts = []
    for replicas in (10, 8_000, 800_000):
        called.clear()
        assert (
            plan_of(fleet(("p5.48xlarge", MOST)), deployment(replicas=replicas), steps=0).verdict
            == "fits"
        )
        counts.append(len(called))
    assert max(counts) <= 16  # a shortage fills one node again, to explain it


def test_reasons_and_blocked_pods_are_saved() -> None:
    orphan = deployment().text.split("\n---\n")[1]
    plan = plan_of(fleet(*POOLS), Source("web.yaml", orphan))
    again = judge_document(plan_file(plan).document())
    assert plan.verdict == again.verdict != "fits"
    assert isinstance(again.demand.blocked[0].reason, Reason)
    assert json.dumps(plan_file(again).document()) == json.dumps(plan_file(plan).document())


FLEETS = {
    "eighty-gi": "eighty-gi/fleet.yaml",
    "gpu-and-efa": "gpu-and-efa/fleet.yaml",
    "gpu-and-rdma": "gpu-and-rdma/fleet.yaml",
    "shared-gpus": "shared-gpus/fleet.yaml",
    "workloads": "portfolio/fleets/east.yaml",
    "workloads-that-do-not-fit": "eighty-gi/fleet.yaml",
    "portfolio/workloads": "portfolio/fleets/east.yaml",
}


def examples() -> Iterator[tuple[str, Fleet, tuple[Source, ...]]]:
    for folder, where in FLEETS.items():
        work = [
            path for path in sorted((EXAMPLES / folder).glob("*.yaml")) if path.name != "fleet.yaml"
        ]
        yield folder, read_fleet_file(EXAMPLES / where), read_sources(work)


GIVEN = [
    *examples(),
    *((case.name, read_fleet(case.fleet), case.work) for case in CASES if not case.existing),
]


@pytest.mark.parametrize(
    ("where", "work"), [each[1:] for each in GIVEN], ids=[each[0] for each in GIVEN]
)
def test_plan_file_is_sized_like_its_manifests(where: Fleet, work: tuple[Source, ...]) -> None:
    """Node counts of pools, placements, verdicts and reasons at each of the four demands, gangs and
    racks included.
    """
    plan = plan_of(where, *work, steps=0)
    kept = plan_file(plan)
    again = judge_document(parse_document(canonical_text(kept)))
    assert again.judgement.sizings == plan.judgement.sizings
    assert (again.pools, again.cost) == (plan.pools, plan.cost)
    assert plan_file(again).demand == kept.demand
    refused = [each for each in plan.diagnostics if each.severity == "error"]
    # errors in manifests aren't evaluated again
    assert again.verdict == plan.placing or refused
