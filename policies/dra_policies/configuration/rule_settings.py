"""The rules with the settings of a configuration."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dra_policies.configuration.schema import Configuration
from dra_policies.rules import Rule


def configured_rules(rules: Iterable[Rule], settings: Configuration) -> tuple[Rule, ...]:
    """Return the rules with their levels and whether they are enabled."""
    levels = settings.levels
    return tuple(_configured(rule, settings, levels.get(rule.id)) for rule in rules)


def _configured(rule: Rule, settings: Configuration, level: str | None) -> Rule:
    if level is None:
        return (
            replace(rule, level=settings.outages)
            if rule.is_outage and rule.level == "mandatory"
            else rule
        )
    if level == "disabled":
        return replace(rule, is_on=False)
    return replace(rule, level="advisory" if level == "advisory" else "mandatory", is_on=True)
