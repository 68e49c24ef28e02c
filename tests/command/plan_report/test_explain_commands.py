"""The `explain` commands that reports print: with the inputs of the report, ready to copy."""

from __future__ import annotations

from argparse import Namespace

import pytest

from dra_command.command_line.shared_options import context_of
from dra_command.plan_report.explain_commands import explain_command

NONE = {"paths": [], "observed": None, "fleet": None, "stack": None}


@pytest.mark.parametrize(
    ("name", "values", "inputs"),
    [
        ("a fleet", {"paths": ["a b.yaml"], "fleet": "f.yaml"}, "'a b.yaml' --fleet f.yaml"),
        ("a stack", {"stack": "dev", "kubernetes": "1.36"}, "--stack dev --kubernetes 1.36"),
        ("a snapshot", {"observed": "c.json", "fleet": "f.yaml"}, "--observed c.json"),
        ("a cluster", {"observed": context_of("gpu-dev")}, "--context gpu-dev"),
        ("a kubeconfig", {"observed": context_of(""), "kubeconfig": "k"}, "--kubeconfig k"),
        (
            "a chart with values",
            {"paths": ["chart"], "values_files": ["v.yaml"], "set_values": ["a=1"]},
            "chart -f v.yaml --set a=1",
        ),
    ],
)
def test_explain_command_has_the_inputs_of_its_report(
    name: str, values: dict[str, object], inputs: str
) -> None:
    command = explain_command(Namespace(**{**NONE, **values}), "--claim", "ml/web-gpu")
    assert command == f"pulumi-dra explain {inputs} --claim ml/web-gpu", name
