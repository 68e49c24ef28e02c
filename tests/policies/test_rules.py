"""The catalogue of rules: listed once, described, and on the page."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from dra_planner.package_version import semantic_version
from dra_policies import rules
from dra_policies.rules import RULES
from dra_policies.rules.page import render_page

ROOT = Path(__file__).parents[2]


def test_every_rule_file_is_listed_exactly_once() -> None:
    folder = Path(rules.__file__).parent
    files = {
        path.stem
        for path in folder.rglob("*.py")
        if re.search(r"^RULE = Rule\(", path.read_text(), re.MULTILINE)
    }

    assert sorted(rule.id.replace("-", "_") for rule in RULES) == sorted(files)


def test_rules_check_either_manifests_or_stacks() -> None:
    manifests, stacks = {rule.id for rule in rules.OF_MANIFESTS}, set(rules.OF_STACKS)

    assert manifests.isdisjoint(stacks)
    assert manifests | stacks | {rules.COULD_NOT_RUN.id} == {rule.id for rule in RULES}


def test_every_rule_has_a_title_reason_and_fix() -> None:
    for rule in RULES:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.id)
        assert rule.description.endswith(".")
        assert rule.why.endswith(".")
        assert rule.fix


def test_the_pack_has_the_project_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pack = yaml.safe_load((ROOT / "policies" / "PulumiPolicy.yaml").read_text(encoding="utf-8"))

    assert pack["version"] == semantic_version(project["version"])


def test_the_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == render_page()


def test_rules_import_no_pulumi() -> None:
    script = (
        "import sys, dra_policies.rules; print([m for m in sys.modules if m.split('.')[0] in "
        "('pulumi', 'grpc')])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
