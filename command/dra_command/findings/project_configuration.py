"""The project configuration that `check` finds and applies. Without a file, nothing is loaded."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.findings.active_findings import ActiveFindings, RuleFinding
from dra_command.findings.exemptions import apply_exemptions
from dra_command.inputs.command_inputs import CommandInputs
from dra_planner.errors import Diagnostic
from dra_planner.sources import Source
from dra_policies.configuration.inline_exemptions import may_exempt
from dra_policies.configuration.location import find_configuration
from dra_policies.configuration.reading import NOT_CONFIGURED, read_configuration
from dra_policies.configuration.rule_settings import configured_rules
from dra_policies.rules import OF_MANIFESTS, Rule

if TYPE_CHECKING:
    from dra_policies.configuration.reading import Configured

OF_READING = "object-is-refused"


class ProjectConfiguration(Struct, frozen=True):
    """A project's configuration, and the date that decides whether its exemptions have expired."""

    configured: Configured
    today: date

    @property
    def levels(self) -> Mapping[str, str]:
        return self.configured.settings.levels


def read_project_configuration(values: argparse.Namespace) -> ProjectConfiguration | None:
    """Return the configuration that the options name, or the one that is nearest to the checked
    files.

    None if there is no configuration. The files that the configuration excludes are added to the
    excluded files in the options. Raises PlannerError if a configuration is invalid, or if the
    paths have different configurations.
    """
    today = _day(values.today)
    path = values.config or _nearest(values.paths)
    if not path:
        return ProjectConfiguration(_nothing(), today) if values.today else None
    configured = read_configuration(path)
    values.exclude = [*values.exclude, *configured.settings.exclude]
    return ProjectConfiguration(configured, today)


def _nothing() -> Configured:
    return NOT_CONFIGURED


def _nearest(paths: Sequence[str]) -> str:
    starts = [path for path in paths if path != "-"] or ["."]
    found = [path for path in map(find_configuration, starts) if path]
    files = list({os.path.realpath(path): path for path in found}.values())
    if len(files) > 1:
        raise UsageError(
            f"two configuration files apply ({files[0]} and {files[1]})",
            fix="select one of the two files with --config",
        )
    return files[0] if files else ""


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text) if text else date.today()
    except ValueError:
        raise UsageError(
            f'--today: "{text}" isn\'t a date', fix="use a date such as 2027-01-31"
        ) from None


def custom_rules(configuration: ProjectConfiguration | None) -> tuple[Rule, ...]:
    """Return the rules that the project's configuration defines."""
    return () if configuration is None else configuration.configured.custom


def configured_rules_of(
    rules: Sequence[Rule], configuration: ProjectConfiguration | None, *, selected: bool
) -> tuple[Rule, ...]:
    """Return the rules with a configuration's levels, by default its enabled rules."""
    if configuration is None:
        return tuple(rules)
    if selected:
        return configured_rules(rules, configuration.configured.settings)
    known = {rule.id for rule in OF_MANIFESTS}
    every = (
        *OF_MANIFESTS,
        *(rule for rule in rules if rule.id not in known),
        *configuration.configured.custom,
    )
    return tuple(
        rule for rule in configured_rules(every, configuration.configured.settings) if rule.is_on
    )


def find_active(
    rule_findings: tuple[RuleFinding, ...],
    read: tuple[Diagnostic, ...],
    inputs: CommandInputs,
    judged: Sequence[Rule],
    configuration: ProjectConfiguration | None,
) -> ActiveFindings:
    """Return the findings that count, from `judged` rules and from reading objects.

    Texts are read again only if a configuration or the texts themselves might exempt findings.
    """
    if configuration is not None:
        read = _at_level(read, configuration)
    if not (configuration and configuration.configured.settings.exemptions) and not any(
        map(_may_exempt, inputs.sources)
    ):
        return ActiveFindings(rule_findings, read)
    configured, today = (
        (configuration.configured, configuration.today)
        if configuration is not None
        else (_nothing(), date.today())
    )
    return apply_exemptions(rule_findings, read, inputs.sources, configured, judged, today)


def _may_exempt(source: Source) -> bool:
    if "pulumi-dra" not in source.text:
        return False
    return may_exempt(source.text)


def _at_level(
    read: Iterable[Diagnostic], configuration: ProjectConfiguration
) -> tuple[Diagnostic, ...]:
    """Return the findings from reading objects at the level of their rule: as warnings instead of
    errors, or not at all.
    """
    level = configuration.levels.get(OF_READING, "mandatory")
    if level == "disabled":
        return tuple(each for each in read if each.severity != "error")
    if level == "mandatory":
        return tuple(read)
    return tuple(
        replace(each, severity="warning") if each.severity == "error" else each for each in read
    )
