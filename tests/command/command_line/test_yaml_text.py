"""YAML that people edit doesn't contain anchors."""

from __future__ import annotations

import yaml

from dra_command.command_line.yaml_text import yaml_documents, yaml_text

SHARED = {"labels": {"team": "ml"}}


def test_yaml_repeats_shared_values() -> None:
    text = yaml_text({"pools": [{"name": "b", **SHARED}, {"name": "a", **SHARED}]})

    assert "&" not in text
    assert text.count("team: ml") == 2
    assert [each["name"] for each in yaml.safe_load(text)["pools"]] == ["b", "a"]


def test_documents_are_separated() -> None:
    text = yaml_documents([SHARED, SHARED])

    assert list(yaml.safe_load_all(text)) == [SHARED, SHARED]
