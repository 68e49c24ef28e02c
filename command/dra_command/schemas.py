"""The published JSON Schemas: `python -m dra_command.schemas docs/schema` writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dra_command.check.contract import CheckOutput
from dra_command.claim_report.contract import ExplainOutput
from dra_command.contract.error import ErrorOutput
from dra_command.diff.contract import DiffOutput
from dra_command.explain.finding.contract import ExplainFindingOutput
from dra_command.explain.message.contract import MessagesOutput
from dra_command.explain.pod.contract import ExplainPodOutput
from dra_command.explain.pool.contract import ExplainPoolOutput
from dra_command.findings.baseline_file import BaselineFile
from dra_command.migrate.cluster_contract import MigrateClusterOutput
from dra_command.migrate.contract import MigrateOutput
from dra_command.migrate.steps_contract import MigrateStepsOutput
from dra_command.plan.matrix.contract import MatrixOutput
from dra_command.plan_report.contract.plan import PlanOutput
from dra_command.portfolio.contract import PortfolioOutput
from dra_command.rehearse.contract import RehearseMigrationOutput, RehearseOutput
from dra_command.rules.contract import RulesTestOutput
from dra_command.suggest.contract import SuggestOutput
from dra_command.verify.contract import VerifyOutput
from dra_planner.fleet import Fleet
from dra_planner.planfile import PlanFile
from dra_planner.portfolio.schema import Portfolio
from dra_policies.configuration.schema import Configuration
from dra_policies.rules import RULES

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VERSION = 1
"""Version of all schemas. Later versions add fields, but never change or remove existing ones."""
_MODELS: dict[str, tuple[type[BaseModel], str, str]] = {
    "plan": (PlanOutput, "serialization", "Output of `pulumi-dra plan --format json`."),
    "matrix": (
        MatrixOutput,
        "serialization",
        "Output of `pulumi-dra plan --matrix … --format json`.",
    ),
    "diff": (DiffOutput, "serialization", "Output of `pulumi-dra diff --format json`."),
    "check": (CheckOutput, "serialization", "Output of `pulumi-dra check --format json`."),
    "explain": (ExplainOutput, "serialization", "Output of `pulumi-dra explain --format json`."),
    "explain-pool": (
        ExplainPoolOutput,
        "serialization",
        "Output of `pulumi-dra explain --pool NAME --format json`.",
    ),
    "explain-pod": (
        ExplainPodOutput,
        "serialization",
        "Output of `pulumi-dra explain --pod NAME --format json`.",
    ),
    "explain-finding": (
        ExplainFindingOutput,
        "serialization",
        "Output of `pulumi-dra explain --finding RULE --format json`.",
    ),
    "messages": (
        MessagesOutput,
        "serialization",
        "Output of `pulumi-dra explain --message --format json`.",
    ),
    "migrate": (MigrateOutput, "serialization", "Output of `pulumi-dra migrate --format json`."),
    "migrate-cluster": (
        MigrateClusterOutput,
        "serialization",
        "Output of `pulumi-dra migrate --observed FILE --format json` without manifests.",
    ),
    "migrate-steps": (
        MigrateStepsOutput,
        "serialization",
        "Output of `pulumi-dra migrate --steps --format json`.",
    ),
    "suggest": (SuggestOutput, "serialization", "Output of `pulumi-dra suggest --format json`."),
    "rules-test": (
        RulesTestOutput,
        "serialization",
        "Output of `pulumi-dra rules test --format json`.",
    ),
    "verify": (VerifyOutput, "serialization", "Output of `pulumi-dra verify --format json`."),
    "rehearse": (RehearseOutput, "serialization", "Output of `pulumi-dra rehearse --format json`."),
    "rehearse-migration": (
        RehearseMigrationOutput,
        "serialization",
        "Output of `pulumi-dra rehearse --migration --format json`.",
    ),
    "portfolio-answer": (
        PortfolioOutput,
        "serialization",
        "Output of `pulumi-dra portfolio --format json`.",
    ),
    "error": (
        ErrorOutput,
        "serialization",
        "Output of every subcommand with --format json if the input is invalid.",
    ),
    "baseline": (
        BaselineFile,
        "validation",
        "Known findings, in the file that `pulumi-dra check --baseline` reads.",
    ),
    "configuration": (
        Configuration,
        "validation",
        "Configuration of `check` and the policy pack: pulumi-dra.yaml.",
    ),
    "fleet": (
        Fleet,
        "validation",
        "The fleet: a file for --fleet, or `pulumi-dra:fleet` in a stack's settings.",
    ),
    "portfolio": (
        Portfolio,
        "validation",
        "A portfolio: the file that `pulumi-dra portfolio` reads.",
    ),
    "plan-file": (PlanFile, "serialization", "The saved plan: stacks/STACK.plan.json."),
}


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema, keyed by its file name without `.json`."""
    return {
        name: {
            "$schema": _DIALECT,
            "$id": f"urn:pulumi-dra:schema:{name}:{_VERSION}",
            **_schema(model, mode, description),
        }
        for name, (model, mode, description) in _MODELS.items()
    }


def schema_text(schema: dict[str, Any]) -> str:
    """Return a schema as it's stored: indented, in the model's order, and with a newline at the
    end.
    """
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write every schema to its file in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (folder / f"{name}.json").write_text(schema_text(schema), encoding="utf-8")


def _schema(model: type[BaseModel], mode: str, description: str) -> dict[str, Any]:
    made = model.model_json_schema(
        mode="serialization" if mode == "serialization" else "validation"
    )
    if model is PlanOutput:
        # these fields exist only on request or if there is a result
        for name in ("claims", "detail", "guards", "joint_fix"):
            made["required"].remove(name)
    if model is CheckOutput:
        made["required"].remove("joint_fix")
    if model is MatrixOutput:
        # these fields exist only if a plan has a value
        for name in ("claims", "detail", "guards", "joint_fix"):
            made["$defs"]["PlanOutput"]["required"].remove(name)
    if model is Portfolio:  # a single factor applies to all workloads
        made["$defs"]["Scenario"]["properties"]["replicas"]["anyOf"].append(
            {"type": "number", "minimum": 0}
        )
    if model in (Fleet, Portfolio):  # a count can be a single number
        made["$defs"]["Pool"]["properties"]["count"] = {
            "anyOf": [{"$ref": "#/$defs/Count"}, {"type": "integer", "minimum": 0}],
            "description": "Minimum and maximum number of nodes, or one fixed number.",
        }
    # facts that only the reader knows: the IDs of rules, and the rules that have a threshold
    if model is Configuration:
        levels = made["properties"]["rules"].pop("additionalProperties")["anyOf"]
        made["properties"]["rules"]["properties"] = {rule.id: levels[0] for rule in RULES}
        made["properties"]["rules"]["additionalProperties"] = levels[1]
        made["properties"]["thresholds"]["propertyNames"] = {
            "enum": [rule.id for rule in RULES if rule.threshold]
        }
    return {**made, "description": description}


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/schema"))
