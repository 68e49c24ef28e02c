"""Read a configuration and the files that it extends, and report every error with its line and
field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from dra_planner.documents.tree import Location as Keys
from dra_planner.documents.tree import line_at, path_text
from dra_planner.documents.validation import kind_of, sentences
from dra_planner.errors import Place, PlannerError
from dra_planner.fleet import read_document
from dra_planner.records import equality
from dra_planner.sources import Source
from dra_policies.configuration.custom.rule_schema import CustomRule, RuleTest
from dra_policies.configuration.schema import Configuration, Exemption
from dra_policies.configuration.shared.locations import Location, parse_location
from dra_policies.unknown_values import as_mapping

_DEEPEST: Final = 5


class ConfigurationError(PlannerError):
    """An invalid configuration."""


Fault = tuple[Keys, str, str]


@equality(ignored=("data",))
class Layer(Struct, frozen=True):
    """One configuration file: its content and its location."""

    settings: Configuration
    location: Location
    data: object = None

    def place(self, at: Keys) -> Place:
        """Return the place of a value in the file."""
        return Place(str(self.location), line_at(self.data, at), path_text(at))

    def fault(self, at: Keys, message: str, fix: str = "") -> ConfigurationError:
        """Return an error about a value of the file."""
        return ConfigurationError(message, place=self.place(at), fix=fix)


def read_layers(
    source: Source, location: Location, parents: tuple[Location, ...] = ()
) -> list[Layer]:
    """Return the configurations that a file extends, followed by its own configuration. Later ones
    take precedence. Raises PlannerError.
    """
    data = read_document(source.text, source.name)
    if data is None:
        return [Layer(Configuration(), location)]
    if as_mapping(data) is None:
        message = f"the configuration must be a mapping, not {kind_of(data)}"
        raise ConfigurationError(message, place=Place(source.name, line_at(data, ())))
    empty = Layer(Configuration(), location, data)
    try:
        layer = Layer(Configuration.model_validate(data), location, data)
    except ValidationError as error:
        raise together([empty.fault(*problem) for problem in _in_words(error, data)]) from None
    bases: list[Layer] = []
    for index, text in enumerate(layer.settings.extends):
        bases += _extended(layer, index, text, (*parents, location))
    return [*bases, layer]


def _extended(layer: Layer, index: int, text: str, parents: tuple[Location, ...]) -> list[Layer]:
    at: Keys = ("extends", index)
    found = parse_location(text, layer.location, layer.place(at))
    if found in parents:
        raise layer.fault(
            at,
            f"extends itself: {' → '.join(map(str, (*parents, found)))}",
            "remove one of these files from `extends`",
        )
    if len(parents) > _DEEPEST:
        raise layer.fault(
            at,
            f"the chain of extended files is longer than {_DEEPEST} files",
            ("remove `extends` from one of the files"),
        )
    return read_layers(fetch_shared(found, layer.place(at)), found, parents)


def fetch_shared(location: Location, place: Place) -> Source:
    """Return a shared file. Raises SourceError if it can't be read."""
    from dra_policies.configuration.shared.fetching import fetch  # noqa: PLC0415  (loads an HTTP client)

    return fetch(location, place)


def together(faults: list[ConfigurationError]) -> ConfigurationError:
    """Combine several errors into one error."""
    first, *others = faults
    return ConfigurationError(first.message, place=first.place, fix=first.fix, others=tuple(others))


def _in_words(error: ValidationError, data: object) -> Iterator[Fault]:
    """Yield validation errors. For an unknown key, suggest a similar key of its mapping, or list
    all keys.
    """
    for part, model in _PARTS.items():
        keys = sorted(field.alias or name for name, field in model.model_fields.items())
        for at, message in sentences(error, data, document="the configuration", keys=keys):
            if _part_of(at) == part:
                is_strange = message == "isn't a key of the configuration"
                listed = f"use one of these keys: {', '.join(keys)}" if is_strange else ""
                yield at, message, listed or _level_fix(at, data)


def _level_fix(at: Keys, data: object) -> str:
    """Return the fix for a level that YAML reads as false, or ""."""
    rules = as_mapping((as_mapping(data) or {}).get("rules")) or {}
    if len(at) == 2 and at[0] == "rules" and rules.get(str(at[1])) is False:
        return "use disabled instead of off, no, or false"
    return ""


_PARTS: Final[dict[str, type[BaseModel]]] = {
    "": Configuration,
    "exemptions": Exemption,
    "rules": CustomRule,
    "tests": RuleTest,
}


def _part_of(at: Keys) -> str:
    """Return the key of the mapping that contains a place."""
    if len(at) > 1 and at[0] == "rules":
        return "tests" if len(at) > 3 and at[2] == "tests" else "rules"
    return "exemptions" if len(at) > 1 else ""
