"""The output formats for people and programs. To rewrite the golden files, run `REWRITE_GOLDEN=1
pytest tests/command`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_project import EXAMPLES, STACK, Project

from dra_command.schemas import schema_text, schemas

GOLDEN = Path(__file__).parent / "golden"
SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def copy_examples(project: Project) -> None:
    for path in sorted(EXAMPLES.glob("workloads*/*.yaml")):
        project.write(f"workloads/{path.name}", path.read_text(encoding="utf-8"))
    project.stack("count: {min: 0, max: 4}", "count: {min: 0, max: 4}\n        pricePerHour: 0.98")


@pytest.mark.parametrize("name", ["plan.txt", "plan.md", "plan.html"])
def test_reports_match_the_golden_files(name: str, project: Project) -> None:
    copy_examples(project)
    form = {"plan.txt": "text", "plan.md": "markdown", "plan.html": "html"}[name]
    done = project.run("plan", "--stack", "dev", "--format", form)
    assert done.status == 1
    compare(name, done.out)


@pytest.mark.parametrize(
    ("form", "row"),
    [
        ("text", "default/first-gpu first gpu l4-0 gpu.nvidia.com/gpu-0"),
        ("markdown", "| default/first-gpu | first | gpu | l4-0 | gpu.nvidia.com/gpu-0 |"),
        ("html", "default/first-gpu first gpu l4-0 gpu.nvidia.com/gpu-0"),
    ],
)
def test_detail_lists_the_devices_of_each_claim(form: str, row: str, project: Project) -> None:
    words = ("plan", "--stack", "dev", "--format", form)
    text = project.run(*words, "--detail").out
    text = re.sub("<[^>]*>", " ", text) if form == "html" else text
    text = " ".join(text.split())
    assert row in text
    assert all(
        title in text.lower() for title in ("cost of claims", "cost of namespaces", "one more pod")
    )
    assert "gpu-0" not in project.run(*words).out


def test_detail_in_json_contains_costs_and_marginal_costs(project: Project) -> None:
    words = ("plan", "--stack", "dev", "--format", "json")
    document = json.loads(project.run(*words, "--detail").out)
    costs = {
        (row["workload"]["name"], row["claim"]): (row["claims"], row["hourly"])
        for row in document["detail"]["claim_costs"]
    }
    assert costs == {("first", "gpu"): (1, 0.9776), ("second", "gpu"): (1, 0.9776)}
    assert document["detail"]["namespace_costs"] == [{"namespace": "default", "hourly": 1.9552}]
    each = {
        row["workload"]["name"]: (row["room"], row["hourly"], row["nodes"])
        for row in document["detail"]["pods"]
    }
    assert each == dict.fromkeys(("first", "second"), (0, 0.9776, {"l4": 1}))
    assert not {"claims", "detail"} & set(json.loads(project.run(*words).out))


def test_piped_report_is_plain_text_within_its_width(project: Project) -> None:
    copy_examples(project)
    out = project.run("plan", "--stack", "dev", COLUMNS="90").out
    assert "\x1b" not in out
    assert all(line == line.rstrip() for line in out.splitlines())
    table = [line for line in out.splitlines() if not line.startswith("  ")]
    assert max(map(len, table)) <= 90


@pytest.mark.parametrize("level", ["floor", "steady", "ceiling", "peak"])
def test_demand_level_has_one_column(level: str, project: Project) -> None:
    project.stack("{min: 0, max: 4}", "{min: 0, max: 4}")
    out = project.run("plan", "--stack", "dev", "--demand", level).out
    (heads,) = [line.split() for line in out.splitlines() if line.startswith("Workloads")]
    assert heads == ["Workloads", "pool", "floor", "steady", "ceiling", "peak"]
    assert out.startswith("✓ Fits: " if level == "steady" else f"✓ Fits at {level} demand: ")


def test_quiet_prints_only_the_verdict_and_problems(project: Project) -> None:
    verdict = "✓ Fits: all 2 workloads on 2 GPU nodes, USD 1.96 per hour\n"
    assert project.run("plan", "--stack", "dev", "--quiet").out == verdict
    project.stack("{min: 0, max: 4}", "1")
    assert project.run("plan", "--stack", "dev", "-q").out.splitlines() == [
        "✕ Does not fit: 1 of 2 pods pending in 1 of 2 workloads",
        "",
        "✕ Pod default/second: 1 of 1 pod pending",
        '  pool "l4" is fixed at 1 node, so the pod stays pending; claim default/second-gpu needs 1 more device',
        '    → set the count of pool "l4" to 2 (1 more node, USD 0.98 more per hour)',
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_table_lines_are_never_wrapped(columns: int, encoding: str, project: Project) -> None:
    """Lines don't exceed the width (except for code to copy), and headings aren't split. Without
    UTF-8, other signs are used.
    """
    copy_examples(project)
    done = project.run_apart(
        "plan",
        "--stack",
        "dev",
        capture_output=True,
        env={"COLUMNS": str(columns), "PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 1, done.stderr
    lines = done.stdout.decode(encoding).splitlines()
    assert max(len(line) for line in lines if not line.startswith("  ")) <= columns
    heads = [
        line.split()
        for line in lines
        if line.split()[:1] in (["Workloads"], ["Pools"], ["Devices"])
    ]
    assert [head[-1] for head in heads] == ["peak", "USD/h", "free"]
    assert [head[0] for head in heads] == ["Workloads", "Pools", "Devices"]
    assert lines[0].startswith("✕ Does not fit: " if encoding == "utf-8" else "no Does not fit: ")


@pytest.mark.parametrize(
    ("pools", "words", "status"),
    [
        ("{min: 0, max: 4}", (), 0),
        ("1", (), 1),
        ("1", ("--allow-unknown",), 1),
    ],
)
def test_exit_status_matches_the_verdict(
    pools: str, words: tuple[str, ...], status: int, project: Project
) -> None:
    project.stack("{min: 0, max: 4}", pools)
    assert project.run("plan", "--stack", "dev", *words).status == status


def test_exit_status_is_3_if_the_verdict_is_cannot_tell(project: Project) -> None:
    project.stack("g6.2xlarge", "p3.2xlarge")
    volta = (EXAMPLES / "workloads-that-do-not-fit" / "tesla-volta.yaml").read_text(
        encoding="utf-8"
    )
    done = project.run("plan", "-", "--stack", "dev", stdin=volta)
    assert done.status == 3
    assert project.run("plan", "-", "--stack", "dev", "--allow-unknown", stdin=volta).status == 0


def test_json_of_a_plan_has_the_expected_fields(project: Project) -> None:
    answer = project.run("plan", "--stack", "dev", "--format", "json").json
    assert (answer["version"], answer["verdict"], answer["kubernetes"]) == (1, "fits", "1.34")
    (pool,) = answer["pools"]
    assert pool["count"] == {"min": 0, "bound": 2, "packing": 2, "simulated": 2, "max": 4}
    assert pool["nodes"] == {"min": 2, "desired": 2, "max": 4}
    assert pool["devices"] == {"total": 2, "used": 2, "stranded": 0}
    first, second = answer["workloads"]
    assert (first["kind"], first["namespace"], first["name"], second["name"]) == (
        "Pod",
        "default",
        "first",
        "second",
    )
    assert first["placements"] == [{"pool": "l4", "pods": 1}]
    assert "claims" not in answer


def test_check_accepts_valid_manifests(project: Project) -> None:
    done = project.run("check", "workloads")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("No findings: ")


def test_check_reports_the_line_of_a_fault(project: Project) -> None:
    copy_examples(project)
    done = project.run("check", "workloads", "--format", "json")
    assert done.status == 1
    codes = {(each["file"], each["line"], each["code"]) for each in done.json["diagnostics"]}
    assert ("workloads/at-least-40-gb-with-an-operator.yaml", 17, "invalid-value") in codes


@pytest.mark.parametrize(
    ("command", "form"),
    [(command, form) for command in ("plan", "check") for form in ("text", "json")]
    + [
        ("plan", "markdown"),
        ("plan", "html"),
        ("check", "sarif"),
        ("check", "junit"),
        ("check", "github"),
        ("check", "code-quality"),
    ],
)
def test_every_report_has_a_fix_for_a_selector_that_does_not_compile(
    command: str, form: str, project: Project
) -> None:
    text = (
        EXAMPLES / "workloads-that-do-not-fit" / "at-least-40-gb-with-an-operator.yaml"
    ).read_text(encoding="utf-8")
    done = project.run(command, "-", "--stack", "dev", "--format", form, stdin=text)
    assert done.status == 1
    report = unescape(done.out.replace("<wbr>", "")).replace("\\", "")
    assert "no matching overload for '_>=_'" in " ".join(report.split())
    assert 'compareTo(quantity("40Gi")) >= 0' in report


def findings_of_examples(project: Project, form: str) -> str:
    copy_examples(project)
    done = project.run("check", "--stack", "dev", "--format", form)
    assert done.status == 1
    return done.out


def test_sarif_has_rules_and_results(project: Project) -> None:
    log = json.loads(findings_of_examples(project, "sarif"))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert log["version"] == "2.1.0"
    assert len(rules) == len(set(rules))
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
    places = [
        result["locations"][0]["physicalLocation"]
        for result in run["results"]
        if "locations" in result
    ]
    assert {"uri": "workloads/tesla-volta.yaml"} in [place["artifactLocation"] for place in places]


def test_junit_counts_match_its_cases(project: Project) -> None:
    root = ElementTree.fromstring(findings_of_examples(project, "junit").encode())
    (suite,) = root
    assert int(suite.attrib["tests"]) == len(suite)
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) > 0


def test_github_annotations_have_file_and_line(project: Project) -> None:
    *lines, summary = findings_of_examples(project, "github").splitlines()
    assert re.fullmatch(r"\d+ errors?, .*\.", summary)
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert any("file=workloads/tesla-volta.yaml,line=" in line for line in lines)


def test_html_is_complete_and_escaped(project: Project) -> None:
    project.write("workloads/two-pods.yaml", HOSTILE)
    page = project.run("plan", "--stack", "dev", "--format", "html").out
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, _: Any) -> None:
            assert tag != "script"
            if tag not in ("meta", "br", "wbr", "rect", "path", "circle"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag not in ("rect", "path", "circle"):
                assert opened.pop() == tag

    Reader().feed(page)
    assert opened == []


HOSTILE = """\
apiVersion: v1
kind: Pod
metadata: {name: "a", namespace: default}
spec:
  nodeSelector: {"<script>alert(1)</script>": "x|y"}
  tolerations: [{operator: Exists}]
  containers: [{name: main, image: x}]
"""


def instances(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> Iterator[str]:
    """Yield the values that don't match their schema: types, required keys, constants, and
    enumerations.
    """
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema:
        if all(list(instances(way, value, root)) for way in schema["anyOf"]):
            yield f"{value!r} is none of {schema['anyOf']}"
        return
    kinds = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "array": list,
        "object": dict,
        "null": type(None),
        "boolean": bool,
    }
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        yield f"{value!r} is no {schema['type']}"
    if "const" in schema and value != schema["const"]:
        yield f"{value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{value!r} is none of {schema['enum']}"
    if isinstance(value, dict):
        missing = set(schema.get("required", ())) - value.keys()
        known = value if schema.get("additionalProperties") else schema.get("properties", value)
        unknown = value.keys() - known.keys()
        yield from (f"{key} is missing" for key in missing)
        yield from (f"{key} is unknown" for key in unknown)
        for key, part in schema.get("properties", {}).items():
            if key in value:
                yield from instances(part, value[key], root)
    if isinstance(value, list):
        for item in value:
            yield from instances(schema.get("items", {}), item, root)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("plan", ("plan", "--stack", "dev", "--format", "json")),
        ("check", ("check", "--stack", "dev", "--format", "json")),
        ("error", ("plan", "--stack", "prod", "--format", "json")),
    ],
)
def test_answers_match_their_schema(schema: str, words: tuple[str, ...], project: Project) -> None:
    copy_examples(project)
    published = json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))
    assert list(instances(published, project.run(*words).json, published)) == []


def test_saved_plan_matches_its_schema(project: Project) -> None:
    project.run("plan", "--stack", "dev", "--write")
    kept = json.loads((project.root / "stacks" / "dev.plan.json").read_text(encoding="utf-8"))
    published = json.loads((SCHEMAS / "plan-file.json").read_text(encoding="utf-8"))
    assert list(instances(published, kept, published)) == []


@pytest.mark.parametrize("name", sorted(schemas()))
def test_published_schemas_are_up_to_date(name: str) -> None:
    """`python -m dra_command.schemas docs/schema` updates them."""
    assert (SCHEMAS / f"{name}.json").read_text(encoding="utf-8") == schema_text(schemas()[name])


@pytest.mark.parametrize(
    "words", [("--stack", "dev,small"), ("--stack", "dev", "--stack", "small")]
)
def test_several_stacks_share_one_comment(words: tuple[str, ...], project: Project) -> None:
    project.write("stacks/Pulumi.small.yaml", STACK.replace("max: 4", "max: 1"))
    done = project.run("plan", *words, "--format", "markdown")
    assert (done.status, done.err) == (1, "")
    assert done.out.count("<!-- pulumi-dra:plan -->") == 1
    assert "### GPU capacity plan: 1 of 2 stacks fits" in done.out
    rows = [line.split(" | ")[:2] for line in done.out.splitlines() if line.startswith("| `")]
    assert [(name, verdict[0]) for name, verdict in rows] == [("| `dev`", "✓"), ("| `small`", "✕")]
    assert "**✕ `small`: Pod default/second does not fit**, 1 of 1 pod pending." in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--stack", "dev,small"), "a plan for several stacks requires --format markdown"),
        (
            ("--stack", "dev,small", "--format", "markdown", "--write"),
            "a plan for several stacks requires --format markdown",
        ),
        (("--stack", ",", "--format", "markdown"), '--stack "," doesn\'t contain a stack name'),
        (("--stack", "dev,none", "--format", "markdown"), 'stack "none" doesn\'t exist'),
    ],
)
def test_unsupported_options_for_several_stacks_are_rejected(
    words: tuple[str, ...], message: str, project: Project
) -> None:
    done = project.run("plan", *words)
    assert (done.status, message in done.err) == (2, True), done.err


def test_suggested_diff_is_for_one_pool(project: Project) -> None:
    """Two pools would fit the pod with different thresholds, but a selector can't contain both."""
    for name in ("fleet.yaml", "vision.yaml"):
        project.write(name, (EXAMPLES / "eighty-gi" / name).read_text(encoding="utf-8"))
    out = project.run("plan", "vision.yaml", "--fleet", "fleet.yaml", "--format", "markdown").out
    changes = [
        line for line in out.partition("```diff\n")[2].partition("```")[0].splitlines() if line
    ]
    assert [line[0] for line in changes] == ["-", "+"]
    assert 'quantity("81559Mi")' in changes[1]
