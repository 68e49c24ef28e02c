"""`pulumi-dra portfolio` as users run it: reports, exit statuses, plans of single cells, and git
refs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from generated_portfolios import write_portfolio

from dra_command.__main__ import main
from dra_command.command_line.exit_status import Status
from dra_command.portfolio.computation.answer_store import Store
from dra_command.portfolio.input_collection import collect
from dra_planner.errors import PlannerError

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "golden"
EXAMPLE = "examples/portfolio/portfolio.yaml"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, with answers that are computed once."""
    folder = tmp_path_factory.mktemp("project")
    for part in ("stacks", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("node_modules"))
    return folder


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["portfolio", *words])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.long
def test_example_is_printed_as_text(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(example)
    status, out, err = answer(capsys, EXAMPLE)
    again = answer(capsys, EXAMPLE)[1]
    assert (status, err) == (Status.BROKEN, "")
    assert again.rpartition("\n\n")[0] == out.rpartition("\n\n")[0]
    assert again.splitlines()[-1] == "all 30 results were cached"
    titles = ["Scenarios", "Stacks", "Capacity for more pods", "Risk", "Placement across clusters"]
    assert [line for line in out.splitlines() if line in titles] == titles


def test_report_is_printed_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pods with one GPU on nodes with one GPU: the figures can be checked by hand."""
    monkeypatch.setenv("COLUMNS", "120")
    file = write_portfolio(tmp_path / "p", 3, 6, "ask: {simulate: off}\n")
    (tmp_path / "p" / "fleets" / "c00001.yaml").write_text("cloud: mars\n")
    answer(capsys, str(file))
    status, out, _ = answer(capsys, str(file))
    assert status == Status.WRONG_INPUT
    golden = GOLDEN / "report.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(out, encoding="utf-8")
    assert out == golden.read_text(encoding="utf-8")


def test_example_is_printed_as_json(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(example)
    _, out, _ = answer(capsys, EXAMPLE, "--format", "json")
    document = json.loads(out)
    schema = json.loads(
        (ROOT / "docs" / "schema" / "portfolio-answer.json").read_text(encoding="utf-8")
    )
    assert set(document) == set(schema["required"])
    assert (document["verdict"], len(document["cells"])) == ("does-not-fit", 24)
    assert document["placement"]["bound"] <= document["placement"]["cost"]
    assert {row["workload"]: row["cluster"] for row in document["placement"]["assigned"]} == {
        "Deployment default/embeddings": "east",
        "Deployment default/transcription": "west",
    }
    by_cell = {(row["stack"], row["scenario"]): row for row in document["cells"]}
    assert by_cell["west", "prices-up"]["hourly"] == pytest.approx(
        1.2 * by_cell["west", "as-is"]["hourly"]
    )


class Links(HTMLParser):
    """IDs, and the targets of links."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.targets: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {each for each in [found.get("id")] if each}
        self.targets |= {each.removeprefix("#") for each in [found.get("href")] if each}
        if tag not in ("meta", "br", "wbr", "rect", "path", "circle"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("rect", "path", "circle"):
            return
        assert self.open.pop() == tag


def test_example_is_printed_as_html(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(example)
    _, out, _ = answer(capsys, EXAMPLE, "--format", "html")
    page = Links()
    page.feed(out)
    assert page.open == []
    assert len(page.targets - {"report"}) == 24
    assert page.targets <= page.ids
    assert out.count("<td class='does-not-fit'") >= 3
    bars = Counter(re.findall(r"<rect class='([^']*)'", out))
    assert bars == {"fits": 19, "does-not-fit": 4, "cannot-tell": 1}, (
        "three verdicts, three colours"
    )
    heights = re.findall(r"<rect class='[^>]* height='([^']*)'", out)
    assert min(map(float, heights)) == 3, "a cell without nodes has a low bar"
    # nodes of each stack, each curve, the sign of the verdict, and the pattern
    assert out.count("<svg") == 3 + 2 + 2
    assert not re.search(r"(src|href)=.https?:", out)


def test_cell_is_printed_like_plan(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(example)
    status, out, _ = answer(capsys, EXAMPLE, "--cell", "west/as-is")
    monkeypatch.chdir("examples/portfolio")  # a cell names files from the folder of its portfolio
    words = ["workloads/inference.yaml", "--fleet", "fleets/west.yaml"]
    assert status == main(["plan", *words, "--simulate", "0.2"])
    assert capsys.readouterr().out == out
    monkeypatch.chdir(example)
    status, _, err = answer(capsys, EXAMPLE, "--cell", "west/as-it-is")
    assert status == Status.WRONG_INPUT
    assert "west/as-is" in err


def test_all_results_are_written_as_one_table(
    example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.parquet as pq

    monkeypatch.chdir(example)
    answer(capsys, EXAMPLE, "--parquet", "all.parquet", "-q")
    table = pq.read_table("all.parquet").to_pylist()
    assert len([row for row in table if row["question"] == "plan"]) == 24
    assert {row["stack"] for row in table} == {"eks-dev", "east", "west"}
    assert all(re.fullmatch("[0-9a-f]{64}", row["digest"]) for row in table)


def test_broken_stack_is_wrong_input_and_the_rest_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 2, 1)
    (tmp_path / "p" / "fleets" / "c00001.yaml").write_text("cloud: [\n")
    status, out, _ = answer(capsys, str(file))
    assert status == Status.WRONG_INPUT
    assert "c00001 (every scenario): fleets/c00001.yaml:" in out
    assert "2 have no result" in out


def test_impossible_placement_is_wrong_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 1, 0, "place: [{workloads: [work]}]\n")
    status, out, _ = answer(capsys, str(file))
    assert status == Status.WRONG_INPUT
    assert "place: Deployment default/web already runs in c00000" in out
    assert "remove this workload from c00000, or rename it" in " ".join(out.split())


def test_pattern_without_a_matching_workload_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = "ask: {simulate: off, curves: {most: 2, workloads: [default/web, default/wbe]}}\n"
    status, out, _ = answer(
        capsys, str(write_portfolio(tmp_path / "p", 2, 0, questions)), "--format", "json"
    )
    found = json.loads(out)
    assert status == Status.WRONG_INPUT
    assert found["curves"]
    assert [each for each in found["faults"] if "curves" in each] == [
        'ask.curves.workloads: "default/wbe" '
        "doesn't match any workload with pods in any stack; use NAMESPACE/NAME, where * matches "
        "any text"
    ]


def test_sample_estimates_the_time_of_the_whole_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 4, 1)
    _, out, _ = answer(capsys, str(file), "--sample", "25%")
    assert re.search(
        r"6 cells aren't computed yet. At [\d.]+ ms of CPU time per cell \(measured on 2 cells\), the "
        r"rest needs \d+ seconds on 1 core",
        " ".join(out.split()),
    )


def test_interrupted_run_prints_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dra_command.portfolio.computation.engines.in_process import Here

    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(Here, "run", interrupted)
    status, out, err = answer(capsys, str(write_portfolio(tmp_path / "p", 1, 0)))
    assert status == Status.INTERRUPTED
    assert "1 is not computed" in out
    assert err == (
        "interrupted after 0 of 1 cells; to continue from this point, run the same command\n"
    )


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_stacks_are_read_at_a_git_ref(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 1, 0)
    git(file.parent, "init", "-q")
    git(file.parent, "add", "-A")
    git(file.parent, "commit", "-qm", "one")
    git(file.parent, "tag", "v1")
    work = file.parent / "work" / "c00000.yaml"
    before = work.read_text()
    work.write_text(before.replace("web:1", "web:2"))
    file.write_text(
        "stacks:\n  - {fleet: fleets/c00000.yaml, workloads: [work]}\n"
        "  - {fleet: fleets/c00000.yaml, workloads: [work], name: released, git: {ref: v1}}\n"
    )
    now, then = collect(str(file)).stacks
    assert "web:2" in now.sources[0].text
    assert (then.sources[0].name, then.sources[0].text) == ("v1:work/c00000.yaml", before)
    file.write_text(file.read_text().replace("ref: v1", "ref: --output=x"))
    now, then = collect(str(file)).stacks
    assert now.fault is None
    assert "git can't find the ref" in str(then.fault)


def test_missing_stacks_are_reported_and_the_rest_is_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 1, 1)
    more = (
        "  - {fleet: none/*.yaml, workloads: [work]}\n"
        "  - {stack: stacks/Pulumi.gone.yaml}\n"
        "  - {name: released, fleet: fleets/c00000.yaml, workloads: [work], git: {ref: v9}}\n"
    )
    file.write_text(file.read_text().replace("scenarios:", f"{more}scenarios:"))
    status, out, err = answer(capsys, str(file), "--format", "json")
    document = json.loads(out)
    assert (status, err) == (Status.WRONG_INPUT, "")
    assert [row["outcome"] for row in document["cells"]] == ["fits"] * 2 + ["failed"] * 6
    assert [fault.partition(": ")[0] for fault in document["faults"]] == [
        "none/*.yaml (every scenario)",
        "stacks/Pulumi.gone.yaml (every scenario)",
        "released (every scenario)",
    ]
    assert "stacks[1]: no file matches" in document["faults"][0]


def test_stack_with_a_fleet_file_has_the_results_of_the_fleet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 1, 0, "  - {stack: stacks/Pulumi.shared.yaml}\n")
    (tmp_path / "p" / "stacks").mkdir()
    settings = "config:\n  pulumi-dra:fleet: fleets/c00000.yaml\n  pulumi-dra:workloads: [work]\n"
    (tmp_path / "p" / "stacks" / "Pulumi.shared.yaml").write_text(settings)
    _, out, _ = answer(capsys, str(file), "--format", "json")
    document = json.loads(out)
    assert [row["stack"] for row in document["cells"]] == ["c00000", "shared"]
    assert len({row["outcome"] for row in document["cells"]} | {"fits"}) == 1


@pytest.mark.parametrize("words", [("--engine", "processes"), ("--workers", "2")])
def test_remote_scheduler_rejects_local_worker_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, str]
) -> None:
    file = write_portfolio(tmp_path / "p", 1, 0)
    status, _, err = answer(capsys, str(file), "--scheduler", "tcp://127.0.0.1:9", *words)
    assert status == Status.WRONG_INPUT
    assert f"remove {words[0]}" in err


def test_unreadable_results_are_reported_and_computed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = write_portfolio(tmp_path / "p", 2, 1)
    first = answer(capsys, str(file), "--format", "json")
    kept = tmp_path / "p" / ".pulumi-dra" / "portfolio"
    (part,) = kept.glob("part-*.parquet")
    known = [row["digest"] for row in json.loads(first[1])["cells"]]
    pq.write_table(
        pa.table({"digest": known, "verdict": ["fits"] * 4}), kept / "part-0-other-columns.parquet"
    )
    (kept / "part-1.jsonl").write_text('{"digest": "0"}\n')
    part.write_bytes(part.read_bytes()[:50])
    status, out, err = answer(capsys, str(file), "--format", "json")
    assert (status, out) == first[:2]
    assert [
        line.split(": ")[1].rpartition("/")[2].partition(" can't be read")[0]
        for line in err.splitlines()
    ] == [
        "part-0-other-columns.parquet",
        part.name,
        "part-1.jsonl",
    ]


def test_unwritable_results_folder_is_reported_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 1, 0)
    status, _, err = answer(capsys, str(file), "--results", str(file))
    assert status == Status.WRONG_INPUT
    assert "portfolio.yaml: results can't be stored in this folder" in err
    assert "use another folder (--results)" in err


def test_concurrent_run_with_the_same_results_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_portfolio(tmp_path / "p", 1, 0)
    first = Store(tmp_path / "p" / ".pulumi-dra" / "portfolio")
    first.begin()
    status, _, err = answer(capsys, str(file))
    assert status == Status.WRONG_INPUT
    assert "another run of this portfolio is in progress and uses this results folder" in err
    first.close()
    assert answer(capsys, str(file))[0] == Status.FITS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "stacks:\n  - {fleet: fleets/*.yaml, name: a, workloads: [work]}\n",
            '`name` sets the same name, "a", for 2 stacks',
        ),
        (
            "stacks:\n  - {fleet: fleets/*.yaml, workloads: [work]}\n"
            "  - {fleet: fleets/c00000.yaml, workloads: [work]}\n",
            'two stacks are named "c00000"',
        ),
        (
            (
                "stacks:\n  - {fleet: fleets/*.yaml, workloads: [work]}\nscenarios:\n  - {name: a, "
                "addWorkloads: [none]}\n"
            ),
            r"scenarios\[0\].addWorkloads: .*none doesn't exist",
        ),
        (
            (
                "stacks:\n  - {fleet: fleets/*.yaml, workloads: [work]}\nplace:\n  - {workloads: "
                "[none]}\n"
            ),
            r"place\[0\].workloads: .*none doesn't exist",
        ),
    ],
)
def test_missing_paths_are_reported(tmp_path: Path, text: str, message: str) -> None:
    file = write_portfolio(tmp_path / "p", 2, 0)
    file.write_text(text)
    with pytest.raises(PlannerError) as caught:
        collect(str(file))
    assert re.search(message, str(caught.value))


def test_glob_of_fleets_is_one_stack_per_file(tmp_path: Path) -> None:
    file = write_portfolio(tmp_path / "p", 3, 0)
    file.write_text(
        "stacks:\n  - {fleet: fleets/*.yaml, workloads: [work/c00000.yaml], labels: {tier: prod}}\n"
    )
    found = collect(str(file))
    assert [each.name for each in found.stacks] == ["c00000", "c00001", "c00002"]
    assert found.labels["c00001"] == {"name": "c00001", "tier": "prod"}
