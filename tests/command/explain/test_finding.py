"""`explain --finding`: a finding of check with its rule, and the pods at its location."""

from __future__ import annotations

import json

import pytest
from command_project import Project
from pod_manifests import FLEET, ROOT, big


@pytest.fixture
def given(project: Project) -> Project:
    """A claim that no pool can satisfy, with pods that start at line 6."""
    project.write("fleet.yaml", FLEET)
    project.write("m.yaml", big())
    return project


@pytest.mark.parametrize("name", ["claim-fits-no-pool", "m.yaml:LINE"])
def test_finding_is_explained_with_its_rule_and_pods(given: Project, name: str) -> None:
    words = ("m.yaml", "--fleet", "fleet.yaml")
    (found,) = given.run("check", *words, "--format", "json").json["diagnostics"]
    done = given.run(
        "explain", *words, "--finding", name.replace("LINE", str(found["line"])), "--format", "json"
    )
    assert (done.status, done.json["verdict"]) == (1, "does-not-fit")
    (row,) = done.json["findings"]
    assert row["finding"] == found
    assert row["rule"]["says"] == "A claim doesn't fit in any pool."
    assert [(pod["pod"], pod["verdict"]) for pod in row["pods"]] == [
        ("default/web", "does-not-fit")
    ]
    assert set(done.json) == set(
        json.loads((ROOT / "docs" / "schema" / "explain-finding.json").read_text(encoding="utf-8"))[
            "required"
        ]
    )


def test_text_prints_the_rule_once_with_the_pods(given: Project) -> None:
    done = given.run(
        "explain", "m.yaml", "--fleet", "fleet.yaml", "--finding", "claim-fits-no-pool"
    )
    assert done.status == 1
    assert done.out.count("rule: A claim doesn't fit in any pool.") == 1
    assert "pod default/web of Deployment default/web does not fit" in done.out


def test_without_a_fleet_only_the_finding_is_explained(given: Project) -> None:
    given.write(
        "m.yaml",
        big().replace("compareTo(quantity('40Gi')) >= 0", "compareTo(quantity('40Gi')) > true"),
    )
    done = given.run("explain", "m.yaml", "--finding", "m.yaml:4", "--format", "json")
    assert done.status in (1, 2)
    found = given.run("check", "m.yaml", "--format", "json").json["diagnostics"]
    code = found[0]["code"]
    done = given.run("explain", "m.yaml", "--finding", code, "--format", "json")
    assert [row["finding"] for row in done.json["findings"]] == [
        each for each in found if each["code"] == code
    ]
    assert all(row["pods"] == [] for row in done.json["findings"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--finding", "claim-fits"),
            (
                '`check` didn\'t find "claim-fits" in these manifests; use finding '
                "claim-fits-no-pool"
            ),
        ),
        (("--finding", "m.yaml:1"), '`check` didn\'t find "m.yaml:1" in these manifests'),
        (("--finding", ""), '`check` didn\'t find "" in these manifests'),
        (
            ("--finding", "claim-fits-no-pool", "--pool", "l4"),
            "--finding can't be combined with --pool",
        ),
        (
            ("--finding", "claim-fits-no-pool", "--what-if", "kubernetes=1.35"),
            "--finding can't be combined with --what-if",
        ),
        (
            ("--finding", "claim-fits-no-pool", "--format", "markdown"),
            "--finding doesn't support --format markdown",
        ),
    ],
)
def test_wrong_arguments_are_rejected(given: Project, words: tuple[str, ...], message: str) -> None:
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", *words)
    assert done.status == 2
    assert message in done.err
