"""Read the program's settings from the stack's configuration and its plan file. Only this module
knows the configuration keys.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pulumi
from msgspec import Struct

from dra_planner.clouds import cloud, names
from dra_planner.errors import FleetError, Place, PlannerError, SourceError
from dra_planner.fleet import Fleet, is_url, read_settings
from dra_planner.planfile import PlanFile, canonical_text, check_inputs, plan_path, read_plan_file
from dra_planner.sources import Source, read_sources
from pulumi_dra.inputs.cidrs import for_documentation
from pulumi_dra.platform.stack_options import SETTING, read_stack_options

if TYPE_CHECKING:  # this import loads the Kubernetes SDK
    from pulumi_dra.platform.platform_inputs import DraPlatformArgs

_STRUCTURED = ("pulumi-dra:fleet", "pulumi-dra:workloads", "pulumi-dra:admins", SETTING)
SETTINGS = (*_STRUCTURED, "pulumi-dra:securityGroup")
SIMULATED = "DRA_SANDBOX_CLOUD"
"""Set for simulated clouds, which accept documentation ranges."""


class ProgramSettings(Struct, frozen=True, kw_only=True):
    """The fleet of a stack and its plan, checked against each other."""

    stack: str
    fleet: Fleet
    plan: PlanFile
    security_group: str | None
    admins: tuple[str, ...] = ()
    # inputs of DraPlatform, with Python's names
    options: Mapping[str, Any] = {}

    @property
    def platform(self) -> "DraPlatformArgs":
        """The inputs of DraPlatform: plan, the stack's options, and a tag with the stack's name."""
        args: dict[str, Any] = {**self.access, **self.options, "plan": self.document}
        args["cluster"] = {**self.cluster_options, **self.options.get("cluster", {})}
        args["tags"] = {"pulumi-dra-stack": self.stack, **self.options.get("tags", {})}
        return cast("DraPlatformArgs", args)

    @property
    def cluster_options(self) -> dict[str, str]:
        """The input `cluster` of DraPlatform."""
        return {"security_group": self.security_group} if self.security_group else {}

    @property
    def access(self) -> dict[str, list[str]]:
        """Administrators of the cluster in the form of DraPlatform, empty if the stack doesn't set
        them.
        """
        return {"admin_principal_arns": list(self.admins)} if self.admins else {}

    @property
    def document(self) -> str:
        """The plan file as one line of JSON."""
        return canonical_text(self.plan)


def read_program_settings(project: Path) -> ProgramSettings:
    """Return the settings of the current stack, whose plan file is below `project`.

    Raises pulumi.RunError, shown as a sentence, if the configuration is wrong, or if the plan is
    missing, was edited, or is out of date.
    """
    stack = pulumi.get_stack()
    try:
        settings = settings_of(stack, _configuration(), project)
        if not os.environ.get(SIMULATED):
            refuse_documentation_ranges(settings)
    except PlannerError as error:
        raise pulumi.RunError(str(error)) from None
    return settings


def refuse_documentation_ranges(settings: ProgramSettings) -> None:
    """Raise FleetError if the API server would only admit documentation ranges."""
    cidrs = settings.fleet.endpoint.public_access_cidrs
    if settings.options.get("cluster", {}).get("dns_endpoint") or not (
        examples := for_documentation(cidrs)
    ):
        return
    raise FleetError(
        f"the allowed addresses ({', '.join(examples)}) are reserved for documentation, so nobody could "
        "reach the API server",
        place=Place(
            f"stacks/Pulumi.{settings.stack}.yaml",
            0,
            "config.pulumi-dra:fleet.endpoint.publicAccessCidrs",
        ),
        fix="use the address range that you deploy from, or an empty list if you deploy from the "
        "cluster's network; to try the example on simulated clouds, run `pulumi-dra sandbox up "
        f"--stack {settings.stack}` (docs/operations/access.md)",
    )


def settings_of(stack: str, config: Mapping[str, Any], project: Path) -> ProgramSettings:
    """Return the settings of a stack with this configuration. Raises PlannerError."""
    path = plan_path(stack, project)
    plan = read_plan_file(path, stack=stack)
    settings = read_settings(
        config,
        file=f"stacks/Pulumi.{stack}.yaml",
        project=project,
        # the program doesn't fetch anything, because the plan contains everything that was fetched
        remote_fleet=lambda _: plan.fleet,
        catalog=plan.fleet.catalog,  # this includes the catalog rows that the plan was made with
    )
    check_inputs(
        plan,
        None if _is_remote(config.get("pulumi-dra:fleet")) else settings.fleet,
        _readable_sources(settings.workloads, project),
        Place(str(path)),
        fix=f"run `pulumi-dra plan --stack {stack} --write`",
    )
    options = read_stack_options(config.get(SETTING) or {}, file=f"stacks/Pulumi.{stack}.yaml")
    group = config.get("pulumi-dra:securityGroup")
    admins = tuple(config.get("pulumi-dra:admins") or ())
    return ProgramSettings(
        stack=stack,
        fleet=settings.fleet,
        plan=plan,
        security_group=group,
        admins=admins,
        options=options,
    )


def _is_remote(fleet: object) -> bool:
    return isinstance(fleet, str) and is_url(fleet)


def _configuration() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in (*SETTINGS, *(cloud(name).region_setting for name in names())):
        namespace, _, key = setting.partition(":")
        config = pulumi.Config(namespace)
        value = config.get(key)
        if setting in _STRUCTURED and not (
            setting == "pulumi-dra:fleet" and value and not value.lstrip().startswith("{")
        ):
            value = config.get_object(key)  # instead of a mapping, the fleet can be a file name
        if value is not None:
            found[setting] = value
    return found


def _readable_sources(workloads: tuple[str, ...], project: Path) -> tuple[Source, ...] | None:
    """Return the workloads' manifests, or None if they aren't available, as in a pipeline of
    another repository.
    """
    if not workloads:
        return None
    try:
        return read_sources([project / path for path in workloads])
    except SourceError:
        return None
