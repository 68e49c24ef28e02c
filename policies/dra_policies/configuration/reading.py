"""Read the `Configured` rules of a project: its own file, merged with the files that it extends."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from dra_planner.documents.tree import Location as Keys
from dra_planner.errors import Place
from dra_planner.manifests.validation.findings import CODES
from dra_planner.records import equality
from dra_planner.sources import Source, read_file
from dra_policies.configuration.custom.rule_schema import CustomRule
from dra_policies.configuration.extended_files import (
    Fault,
    Layer,
    read_layers,
    together,
)
from dra_policies.configuration.schema import Configuration
from dra_policies.configuration.shared.locations import LocalFile, Location, parse_location
from dra_policies.rules import RULES, Rule

_ID: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
OF_READING = "object-is-refused"
"""The rule for findings about the form of an object."""


@equality(unhashed=("fleets", "rule_files"))
class Configured(Struct, frozen=True):
    """A configuration merged from its files, the places of its exemptions, its custom rules, its
    fleets, and its files of learned machine types, where later ones take precedence. `rule_files`
    are the files that define the custom rules, by ID.
    """

    settings: Configuration
    places: tuple[Place, ...] = ()
    custom: tuple[Rule, ...] = ()
    fleets: Mapping[str, Location] = {}
    catalog: tuple[tuple[Location, Place], ...] = ()
    rule_files: Mapping[str, str] = {}

    @property
    def known_rules(self) -> frozenset[str]:
        """The IDs of all rules, including the project's custom rules."""
        return frozenset(rule.id for rule in (*RULES, *self.custom))

    def place(self, index: int) -> Place:
        """Return the place of an exemption."""
        return self.places[index]


NOT_CONFIGURED: Final = Configured(Configuration())
"""The configuration of a project without a file."""


def read_configuration(path: str) -> Configured:
    """Return the configuration of a file and of the files that it extends. Raises PlannerError
    with every error.
    """
    source = read_file(path)
    return parse_configuration(source.text, source.name)


def parse_configuration(text: str, file: str = "") -> Configured:
    """Return the configuration in a text. An empty text changes nothing. Raises PlannerError."""
    return _merged(read_layers(Source(file, text), LocalFile(file)))


def _merged(layers: Sequence[Layer]) -> Configured:
    """Return the merged configuration of the files. Raises ConfigurationError with every error."""
    custom = {id for layer in layers for id in layer.settings.custom_rules}
    faults = [
        layer.fault(*each)
        for layer in layers
        for each in (*_custom_faults(layer.settings), *_faults(layer.settings, custom))
    ]
    if faults:
        raise together(faults)
    settings = _settings(layers)
    fleets = {
        name: parse_location(text, layer.location, layer.place(("fleets", name)))
        for layer in layers
        for name, text in layer.settings.fleets.items()
    }
    return Configured(
        settings=settings,
        places=tuple(
            layer.place(("exemptions", index))
            for layer in layers
            for index in range(len(layer.settings.exemptions))
        ),
        custom=_compiled(settings.custom_rules),
        fleets=fleets,
        catalog=tuple(_catalog_files(layers)),
        rule_files={
            id: str(layer.location) for layer in layers for id in layer.settings.custom_rules
        },
    )


def _catalog_files(layers: Sequence[Layer]) -> Iterator[tuple[Location, Place]]:
    for layer in layers:
        for index, text in enumerate(layer.settings.catalog):
            place = layer.place(("catalog", index))
            yield parse_location(text, layer.location, place), place


def _compiled(rules: Mapping[str, CustomRule]) -> tuple[Rule, ...]:
    if not rules:
        return ()
    from dra_policies.configuration.custom.compiled_rule import custom_rule  # noqa: PLC0415  (loads what shares costs)

    return tuple(custom_rule(id, rule) for id, rule in rules.items())


def _settings(layers: Sequence[Layer]) -> Configuration:
    rules: dict[str, str | CustomRule] = {}
    thresholds: dict[str, int | float] = {}
    outages = "mandatory"
    for each in (layer.settings for layer in layers):
        for id, rule in each.rules.items():
            before = rules.get(id)
            is_level = isinstance(rule, str) and isinstance(before, CustomRule)
            rules[id] = before.model_copy(update={"level": rule}) if is_level else rule  # type: ignore[union-attr]
        thresholds |= each.thresholds
        outages = each.outages if "outages" in each.model_fields_set else outages
    return Configuration.model_construct(
        rules=rules,
        outages=outages,
        thresholds=thresholds,
        exclude=[each for layer in layers for each in layer.settings.exclude],
        exemptions=[each for layer in layers for each in layer.settings.exemptions],
    )


def _custom_faults(settings: Configuration) -> Iterator[Fault]:
    """Yield the errors in the project's custom rules."""
    if not settings.custom_rules:
        return
    from dra_policies.configuration.custom.compiled_rule import (  # noqa: PLC0415  (loads what shares costs)
        ExpressionFault,
        custom_rule,
    )
    from dra_policies.configuration.custom.rule_cases import case_faults  # noqa: PLC0415  (the same)

    built_in = {each.id for each in RULES}
    for id, rule in settings.custom_rules.items():
        if id in built_in:
            fix = "choose another ID, or set a level to configure the built-in rule"
            yield ("rules", id), f'"{id}" is the ID of a built-in rule', fix
        elif not _ID.fullmatch(id):
            yield (
                ("rules", id),
                f'"{id}" isn\'t a valid rule ID',
                "use lowercase words joined by hyphens, for example team-budget",
            )
        try:
            custom_rule(id, rule)
        except ExpressionFault as error:
            yield ("rules", id, error.key), f"invalid expression: {error.message}", error.fix
        for index, message, fix in case_faults(rule):
            yield ("rules", id, "tests", index, "given"), message, fix


def _faults(settings: Configuration, custom: Collection[str]) -> Iterator[Fault]:
    yield from _unknown_rules(settings, custom)
    yield from _thresholds(settings)
    able = [each.id for each in RULES if each.can_remediate]
    for rule, level in settings.levels.items():
        if level == "remediate" and rule not in able and (rule in custom or not unknown_rule(rule)):
            fix = f"use remediate only for these rules: {', '.join(able)}"
            yield ("rules", rule), "this rule doesn't support the remediate level", fix


def _unknown_rules(settings: Configuration, custom: Collection[str]) -> Iterator[Fault]:
    named: list[tuple[Keys, str]] = [(("rules", rule), rule) for rule in settings.rules]
    named += [(("thresholds", rule), rule) for rule in settings.thresholds]
    named += [
        (("exemptions", index, "rule"), each.rule) for index, each in enumerate(settings.exemptions)
    ]
    for at, rule in named:
        if rule not in custom and (fix := unknown_rule(rule)):
            yield at, f'rule "{rule}" doesn\'t exist', fix


def unknown_rule(rule: str, rules: Iterable[Rule] = RULES) -> str:
    """Return a suggestion for an unknown rule ID, or "" if the rule exists."""
    known = [each.id for each in rules]
    if rule in known:
        return ""
    if rule in CODES.values():
        fix = f'use "{OF_READING}", the rule that reports parsing errors'
    elif near := get_close_matches(rule, known, n=1):
        fix = f'use "{near[0]}"'
    else:
        fix = "use a rule ID from docs/rules.md"
    return fix


def _thresholds(settings: Configuration) -> Iterator[Fault]:
    known = {each.id: each.threshold for each in RULES}
    for rule, value in settings.thresholds.items():
        threshold = known.get(rule)
        if rule in known and threshold is None:
            have = ", ".join(id for id, each in known.items() if each is not None)
            yield (
                ("thresholds", rule),
                "this rule doesn't have a threshold",
                (f"set a threshold only for these rules: {have}"),
            )
        elif threshold is not None and not threshold.least <= value <= threshold.most:
            yield (
                ("thresholds", rule),
                f"must be between {threshold.least} and {threshold.most}, not {value}",
                "",
            )
