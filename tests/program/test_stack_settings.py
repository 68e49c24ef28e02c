"""The program rejects a stack with wrong settings or a wrong plan, with one sentence, before it
declares any resource.
"""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.provider.experimental.util import camel_case

from dra_planner import planfile
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_settings
from dra_planner.sources import read_sources
from pulumi_dra.platform.stack_options import read_stack_options
from pulumi_dra.platform.stack_settings import refuse_documentation_ranges, settings_of

PROJECT = Path(__file__).parents[2]
FIX = "run `pulumi-dra plan --stack dev --write`"


@pytest.fixture
def config() -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((PROJECT / "stacks/Pulumi.eks-dev.yaml").read_text())[
        "config"
    ]
    settings["pulumi-dra:workloads"] = ["work.yaml"]
    return settings


@pytest.fixture
def project(
    tmp_path: Path, config: dict[str, Any], plan_of: Callable[..., planfile.PlanFile]
) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "work.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
    plan = plan_of(read_settings(config).fleet, read_sources([tmp_path / "work.yaml"]))
    planfile.plan_path("dev", tmp_path).write_text(planfile.file_text(plan))
    return tmp_path


def test_settings_and_plan_match(project: Path, config: dict[str, Any]) -> None:
    settings = settings_of("dev", config, project)
    assert settings.fleet.cloud == "eks"
    assert planfile.parse_document(settings.document).digest == settings.plan.digest


def test_fleet_can_be_a_file_of_the_project(project: Path, config: dict[str, Any]) -> None:
    (project / "fleet.yaml").write_text(yaml.safe_dump(config["pulumi-dra:fleet"]))
    config["pulumi-dra:fleet"] = "fleet.yaml"
    assert settings_of("dev", config, project).fleet.cloud == "eks"


def test_fleet_at_a_url_is_read_from_the_plan(project: Path, config: dict[str, Any]) -> None:
    # the program fetches nothing
    config["pulumi-dra:fleet"] = "git+https://example.com/shared.git@v1#fleet.yaml"
    assert settings_of("dev", config, project).fleet.region == "us-east-1"


def test_stack_sets_cluster_admins(project: Path, config: dict[str, Any]) -> None:
    assert settings_of("dev", config, project).access == {}
    config["pulumi-dra:admins"] = ["arn:aws:iam::111122223333:role/platform"]
    access = settings_of("dev", config, project).access
    assert access == {"admin_principal_arns": ["arn:aws:iam::111122223333:role/platform"]}


def test_stack_accepts_all_platform_options(project: Path, config: dict[str, Any]) -> None:
    config["pulumi-dra:securityGroup"] = "none"
    config["pulumi-dra:platform"] = {
        "cluster": {
            "dnsEndpoint": True,
            "maintenanceExclusions": [{"name": "busy", "startTime": "t", "endTime": "u"}],
        },
        "pools": [{"name": "l4", "diskKmsKey": "arn", "labels": {"teamName": "vision"}}],
        "addonVersions": {"vpc-cni": "most-recent"},
        "deletionProtection": True,
        "tags": {"costCenter": "42"},
    }
    platform = settings_of("dev", config, project).platform
    assert {key: value for key, value in platform.items() if key != "plan"} == {
        "cluster": {
            "security_group": "none",
            "dns_endpoint": True,
            "maintenance_exclusions": [{"name": "busy", "start_time": "t", "end_time": "u"}],
        },
        "pools": [{"name": "l4", "disk_kms_key": "arn", "labels": {"teamName": "vision"}}],
        "addon_versions": {"vpc-cni": "most-recent"},
        "deletion_protection": True,
        "tags": {"pulumi-dra-stack": "dev", "costCenter": "42"},
    }


def test_every_name_of_the_published_schema_is_accepted(
    project: Path, config: dict[str, Any]
) -> None:
    """The schema is what Pulumi derives from the components; a document with all of its names is
    valid.
    """
    schema = json.loads((PROJECT / "docs/schema/components.json").read_text())

    def every(properties: dict[str, Any]) -> dict[str, Any]:
        return {name: sample(each) for name, each in properties.items() if name != "plan"}

    def sample(spec: dict[str, Any]) -> Any:
        if "$ref" in spec:
            return every(schema["types"][spec["$ref"].removeprefix("#/types/")]["properties"])
        return [sample(spec["items"])] if spec.get("type") == "array" else "value"

    document = every(schema["resources"]["pulumi-dra:index:DraPlatform"]["inputProperties"])
    read = read_stack_options(document)
    assert respelt(read) == document
    assert len(str(read)) > 1_000


def respelt(value: Any) -> Any:
    """Return the value with Pulumi's names, as its SDK for Python translates them."""
    if isinstance(value, dict):
        return {camel_case(name): respelt(item) for name, item in value.items()}
    return [respelt(item) for item in value] if isinstance(value, list) else value


DOCUMENTATION = {
    "the unchanged example": ({}, {}, True),
    "a custom network": ({"publicAccessCidrs": ["8.8.8.0/24"]}, {}, False),
    "deployed from inside": ({"publicAccessCidrs": []}, {}, False),
    "by DNS name with IAM": ({}, {"cluster": {"dnsEndpoint": True}}, False),
}


@pytest.mark.parametrize(
    ("endpoint", "options", "refused"), DOCUMENTATION.values(), ids=DOCUMENTATION
)
def test_address_range_of_the_examples_is_not_deployed(
    project: Path,
    config: dict[str, Any],
    plan_of: Callable[..., planfile.PlanFile],
    endpoint: dict[str, Any],
    options: dict[str, Any],
    refused: bool,
) -> None:
    config["pulumi-dra:fleet"]["endpoint"].update(endpoint)
    config["pulumi-dra:platform"] = options
    plan = plan_of(read_settings(config).fleet, read_sources([project / "work.yaml"]))
    planfile.plan_path("dev", project).write_text(planfile.file_text(plan))
    settings = settings_of("dev", config, project)
    with (
        pytest.raises(PlannerError, match="are reserved for documentation")
        if refused
        else nullcontext()
    ):
        refuse_documentation_ranges(settings)


def test_missing_workload_file_is_not_an_error(project: Path, config: dict[str, Any]) -> None:
    (project / "work.yaml").unlink()
    assert settings_of("dev", config, project).stack == "dev"


def _other_region(config: dict[str, Any], project: Path) -> None:
    config["aws:region"] = "eu-west-1"


def _no_fleet(config: dict[str, Any], project: Path) -> None:
    del config["pulumi-dra:fleet"]


def _unknown_key(config: dict[str, Any], project: Path) -> None:
    config["pulumi-dra:fleet"]["pool"] = []


def _misspelt_option(config: dict[str, Any], project: Path) -> None:
    config["pulumi-dra:platform"] = {"cluster": {"dnsEndpont": True}}


def _option_of_another_kind(config: dict[str, Any], project: Path) -> None:
    config["pulumi-dra:platform"] = {"cluster": True}


def _plan_as_option(config: dict[str, Any], project: Path) -> None:
    config["pulumi-dra:platform"] = {"plan": "{}"}


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
        pytest.param(
            _other_region,
            '"eu-west-1" differs from the fleet\'s region "us-east-1"; use the same region in both places',
        ),
        pytest.param(
            _no_fleet,
            'the stack doesn\'t have the key "pulumi-dra:fleet"; add the key, and describe the fleet under it',
        ),
        pytest.param(_unknown_key, 'isn\'t a key of the fleet; did you mean "pools"?'),
        pytest.param(
            _misspelt_option,
            'dnsEndpont isn\'t a platform option; did you mean "dnsEndpoint"?',
        ),
        pytest.param(
            _option_of_another_kind, "config.pulumi-dra:platform.cluster must be a mapping"
        ),
        pytest.param(_plan_as_option, "config.pulumi-dra:platform.plan can't be set in this file"),
        pytest.param(_no_plan, f"doesn't exist; {FIX}"),
        pytest.param(
            _edited_plan,
            f"doesn't match its digest, so someone changed it by hand; {FIX}",
        ),
        pytest.param(_broken_plan, FIX),
        pytest.param(_newer_plan, f"has version 99, but pulumi-dra requires version 1; {FIX}"),
        pytest.param(
            _other_fleet, f"is stale: the fleet has changed since the plan was written; {FIX}"
        ),
        pytest.param(
            _other_workloads,
            f"is stale: the workloads have changed since the plan was written; {FIX}",
        ),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_invalid_settings_are_rejected(
    project: Path,
    config: dict[str, Any],
    spoil: Callable[[dict[str, Any], Path], None],
    sentence: str,
) -> None:
    spoil(config, project)
    with pytest.raises(PlannerError) as refused:
        settings_of("dev", config, project)
    assert sentence in str(refused.value)
