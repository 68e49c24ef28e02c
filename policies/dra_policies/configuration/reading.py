"""Text → a validated `Configuration`, with every fault placed at its line and field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from pydantic import ValidationError

from dra_planner.documents.tree import Location, line_at, path_text
from dra_planner.documents.validation import kind_of, sentences
from dra_planner.errors import Place, PlannerError
from dra_planner.fleet import read_document
from dra_planner.manifests.validation.findings import CODES
from dra_planner.sources import read_file
from dra_policies.configuration.schema import Configuration, Exemption
from dra_policies.rules import RULES, Rule
from dra_policies.unknowns import as_mapping

OF_READING = "object-is-refused"
"""The rule under which findings about the form of an object stand."""


class ConfigurationError(PlannerError):
    """A configuration that does not validate."""


@dataclass(frozen=True, slots=True)
class Configured:
    """A configuration, the file it comes from, and the lines of its exemptions."""

    settings: Configuration
    file: str = ""
    lines: tuple[int, ...] = ()

    def place(self, index: int) -> Place:
        """Return where an exemption stands."""
        return Place(self.file, self.lines[index], f"exemptions[{index}]")


NOT_CONFIGURED: Final = Configured(Configuration())
"""What holds where a project says nothing."""


def read_configuration(path: str) -> Configured:
    """Return the configuration of a file; raises PlannerError listing every fault."""
    source = read_file(path)
    return parse_configuration(source.text, source.name)


def parse_configuration(text: str, file: str = "") -> Configured:
    """Return the configuration that a text holds; an empty one changes nothing. Raises PlannerError."""
    data = read_document(text, file)
    if data is None:
        return NOT_CONFIGURED

    def fault(at: Location, message: str, fix: str = "") -> ConfigurationError:
        return ConfigurationError(message, place=Place(file, line_at(data, at), path_text(at)), fix=fix)

    if as_mapping(data) is None:
        raise fault((), f"the configuration must be a mapping of keys, not {kind_of(data)}")
    try:
        settings = Configuration.model_validate(data)
    except ValidationError as error:
        raise _together([fault(*told) for told in _in_words(error, data)]) from None
    faults = [fault(at, message, fix) for at, message, fix in _faults(settings)]
    if faults:
        raise _together(faults)
    lines = tuple(line_at(data, ("exemptions", index)) for index in range(len(settings.exemptions)))
    return Configured(settings, file, lines)


Fault = tuple[Location, str, str]


def _in_words(error: ValidationError, data: object) -> Iterator[Fault]:
    """Yield what does not validate; an unknown key is compared with those of its own mapping, or they are listed."""
    of_exemption = sorted(Exemption.model_fields)
    for keys, is_inside in ((sorted(Configuration.model_fields), False), (of_exemption, True)):
        for at, message in sentences(error, data, document="the configuration", keys=keys):
            if (len(at) > 1) == is_inside:
                is_strange = message == "is not a key of the configuration"
                yield at, message, f"its keys: {', '.join(keys)}" if is_strange else ""


def _faults(settings: Configuration) -> Iterator[Fault]:
    yield from _unknown_rules(settings)
    yield from _thresholds(settings)
    able = [each.id for each in RULES if each.can_remediate]
    for rule, level in settings.rules.items():
        if level == "remediate" and rule not in able and not unknown_rule(rule):
            fix = f"rules that can be remediated: {', '.join(able)}"
            yield ("rules", rule), "the pack cannot set what this rule asks for", fix


def _unknown_rules(settings: Configuration) -> Iterator[Fault]:
    named: list[tuple[Location, str]] = [(("rules", rule), rule) for rule in settings.rules]
    named += [(("thresholds", rule), rule) for rule in settings.thresholds]
    named += [(("exemptions", index, "rule"), each.rule) for index, each in enumerate(settings.exemptions)]
    for at, rule in named:
        if fix := unknown_rule(rule):
            yield at, f'there is no rule "{rule}"', fix


def unknown_rule(rule: str, rules: Iterable[Rule] = RULES) -> str:
    """Return what to write instead of an id that no rule has; "" where there is such a rule."""
    known = [each.id for each in rules]
    if rule in known:
        return ""
    if rule in CODES.values():
        fix = f'write "{OF_READING}", the rule of what reading an object finds'
    elif near := get_close_matches(rule, known, n=1):
        fix = f'write "{near[0]}"'
    else:
        fix = "docs/rules.md lists the rules"
    return fix


def _thresholds(settings: Configuration) -> Iterator[Fault]:
    known = {each.id: each.threshold for each in RULES}
    for rule, value in settings.thresholds.items():
        threshold = known.get(rule)
        if rule in known and threshold is None:
            have = ", ".join(id for id, each in known.items() if each is not None)
            yield ("thresholds", rule), "this rule has no threshold", f"rules with one: {have}"
        elif threshold is not None and not threshold.least <= value <= threshold.most:
            yield ("thresholds", rule), f"must be from {threshold.least} to {threshold.most}, not {value}", ""


def _together(faults: list[ConfigurationError]) -> ConfigurationError:
    first, *others = faults
    return ConfigurationError(first.message, place=first.place, fix=first.fix, others=tuple(others))
