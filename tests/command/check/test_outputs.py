"""`check --output`: several formats at the same time, each in a file, in addition to standard
output.
"""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from command_project import Project

POD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
  tolerations: [{operator: Exists}]
  containers:
    - name: a
      image: example/a:1
      resources:
CLAIMS
"""


@pytest.fixture
def failing(project: Project) -> Project:
    """A project with a claim that contains an unknown field."""
    text = (project.root / "workloads" / "two-pods.yaml").read_text(encoding="utf-8")
    project.write("workloads/two-pods.yaml", text.replace("deviceClassName", "deviceClas"))
    return project


def test_files_contain_the_output_of_each_format(failing: Project) -> None:
    forms = ("text", "json", "markdown", "html", "sarif", "junit", "code-quality", "github")
    wanted = {form: failing.run("check", "workloads", "--format", form).out for form in forms}
    outputs = ",".join(f"{form}=out.{form}" for form in forms[1:])

    done = failing.run("check", "workloads", "--output", outputs, "--output", "text=out.text")

    assert done.out == wanted["text"]
    assert done.status == 1
    assert {
        form: (failing.root / f"out.{form}").read_text(encoding="utf-8") for form in forms
    } == wanted


def test_standard_output_keeps_its_own_format(failing: Project) -> None:
    done = failing.run(
        "check", "workloads", "--format", "json", "--output", "sarif=a.sarif, junit=b.xml"
    )

    log = json.loads((failing.root / "a.sarif").read_text(encoding="utf-8"))
    suite = ElementTree.parse(failing.root / "b.xml").getroot()[0]
    assert len(log["runs"][0]["results"]) == len(done.json["diagnostics"])
    assert int(suite.attrib["failures"]) == sum(
        each["severity"] == "error" for each in done.json["diagnostics"]
    )


def test_driver_upgrade_is_written_to_a_file(project: Project) -> None:
    project.run("check", "--driver-upgrade", "25.8.1", "0.4.1", "--output", "json=up.json")

    assert json.loads((project.root / "up.json").read_text(encoding="utf-8"))["diagnostics"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("sarif", '"sarif" doesn\'t contain a file name; use FORMAT=FILE'),
        ("", '--output: "" doesn\'t contain a file name'),
        ("sarf=a", '"sarf" isn\'t an output format; use one of these formats: text, json'),
        ("sarif=a,junit=a", 'file "a" appears twice'),
        ("sarif=-", "use --format sarif"),
        ("sarif=workloads", '"workloads" is a folder; use a file in this folder'),
        ("sarif=gone/a.sarif", "gone/a.sarif can't be written"),
    ],
)
def test_unwritable_output_is_wrong_input(project: Project, words: str, message: str) -> None:
    done = project.run("check", "workloads", "--output", words)

    assert done.status == 2
    assert message in done.err
    assert not (project.root / "a").exists()


def test_built_in_findings_have_help_in_sarif(failing: Project) -> None:
    log = json.loads(failing.run("check", "workloads", "--format", "sarif").out)

    rules = {rule["id"]: rule for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert "unknown-field" in rules
    for rule in rules.values():
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["fullDescription"]["text"]
        assert rule["helpUri"].startswith("https://")


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("claims: [{name: gpu}]", "No findings"),
        ("{claims: [{name: gpu}], limits: {nvidia.com/gpu: 1}}", "No errors, 1 warning"),
        ("claims: [{name: gpus}]", "1 error"),
    ],
    ids=["nothing", "warning", "error"],
)
def test_page_title_agrees_with_its_sign(project: Project, given: str, title: str) -> None:
    project.write("m.yaml", POD.replace("CLAIMS", f"        {given}"))
    page = project.run("check", "m.yaml", "--format", "html").out
    assert f"<title>{title}" in page
    assert f"</svg>{title}</h1>" in page
