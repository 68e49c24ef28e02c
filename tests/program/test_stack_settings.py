"""The program refuses a stack whose settings or plan are wrong, with a sentence, before anything is declared."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner import planfile
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_settings
from dra_planner.sources import read_sources
from pulumi_dra.stack_settings import settings_of

PROJECT = Path(__file__).parents[2]
REMEDY = "run `pulumi-dra plan --stack dev --write`"


@pytest.fixture
def config() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((PROJECT / "stacks/Pulumi.eks-dev.yaml").read_text())["config"]
    settings["pulumi-dra:workloads"] = ["work.yaml"]
    return settings


@pytest.fixture
def project(tmp_path: Path, config: dict[str, Any], plan_of: Callable[..., planfile.PlanFile]) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "work.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    plan = plan_of(read_settings(config).fleet, read_sources([tmp_path / "work.yaml"]))
    planfile.plan_path("dev", tmp_path).write_text(planfile.file_text(plan))
    return tmp_path


def test_settings_and_plan_belong_together(project: Path, config: dict[str, Any]) -> None:
    settings = settings_of("dev", config, project)
    assert settings.fleet.cloud == "eks"
    assert planfile.parse_document(settings.document).digest == settings.plan.digest


def test_a_stack_names_its_admins(project: Path, config: dict[str, Any]) -> None:
    assert settings_of("dev", config, project).access == {}
    config["pulumi-dra:admins"] = ["arn:aws:iam::111122223333:role/platform"]
    access = settings_of("dev", config, project).access
    assert access == {"admin_principal_arns": ["arn:aws:iam::111122223333:role/platform"]}


def test_workloads_that_are_not_at_hand_are_no_reason_to_stop(project: Path, config: dict[str, Any]) -> None:
    (project / "work.yaml").unlink()
    assert settings_of("dev", config, project).stack == "dev"


def _other_region(config: dict[str, Any], project: Path) -> None:
    config["aws:region"] = "eu-west-1"


def _no_fleet(config: dict[str, Any], project: Path) -> None:
    del config["pulumi-dra:fleet"]


def _unknown_key(config: dict[str, Any], project: Path) -> None:
    config["pulumi-dra:fleet"]["pool"] = []


def _no_plan(config: dict[str, Any], project: Path) -> None:
    planfile.plan_path("dev", project).unlink()


def _edited_plan(config: dict[str, Any], project: Path) -> None:
    path = planfile.plan_path("dev", project)
    path.write_text(path.read_text().replace('"desired": 1', '"desired": 2'))


def _broken_plan(config: dict[str, Any], project: Path) -> None:
    planfile.plan_path("dev", project).write_text("{")


def _newer_plan(config: dict[str, Any], project: Path) -> None:
    path = planfile.plan_path("dev", project)
    path.write_text(path.read_text().replace('"version": 1', '"version": 99'))


def _other_fleet(config: dict[str, Any], project: Path) -> None:
    config["pulumi-dra:fleet"]["pools"][0]["count"]["max"] = 9


def _other_workloads(config: dict[str, Any], project: Path) -> None:
    (project / "work.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n")


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(_other_region, '"eu-west-1" is not the fleet\'s region "us-east-1"; make the two the same'),
        pytest.param(_no_fleet, 'the stack has no "pulumi-dra:fleet"; describe the fleet there'),
        pytest.param(_unknown_key, 'is not a key of the fleet; did you mean "pools"?'),
        pytest.param(_no_plan, f"does not exist; {REMEDY}"),
        pytest.param(_edited_plan, f"was changed by hand: its content does not match its digest; {REMEDY}"),
        pytest.param(_broken_plan, REMEDY),
        pytest.param(_newer_plan, f"is a plan document of version 99; this program reads version 1; {REMEDY}"),
        pytest.param(_other_fleet, f"is stale: the fleet has changed since it was made; {REMEDY}"),
        pytest.param(_other_workloads, f"is stale: the workloads have changed since it was made; {REMEDY}"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_refusals(
    project: Path, config: dict[str, Any], spoil: Callable[[dict[str, Any], Path], None], sentence: str
) -> None:
    spoil(config, project)
    with pytest.raises(PlannerError) as refused:
        settings_of("dev", config, project)
    assert sentence in str(refused.value)
