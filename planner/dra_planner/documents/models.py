"""Types for the parts of a settings document: closed mappings with camelCase keys, and checks of
values.

Modules with such parts don't postpone annotations, because pydantic would compile text annotations
at every start.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Part = TypeVar("Part", bound="StrictDocument")


class StrictDocument(BaseModel):
    """A mapping of a settings document.

    Keys are camelCase in files, unknown keys are errors, and values aren't coerced.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=True,
        defer_build=True,
    )


# pydantic inspects the signature of each factory. Inspecting a function is fast, but `list` or a
# model takes long.


def empty_list() -> list[Any]:
    """Return a new list, the default of a field."""
    return []


def empty_mapping() -> dict[str, Any]:
    """Return a new dictionary, the default of a field."""
    return {}


def nothing_given(part: type[Part]) -> Callable[[], Part]:
    """Return a factory for a part with all of its defaults.

    The factory doesn't need its own validator.
    """
    return lambda: part.model_construct()


def refused_by(fault: Callable[[Any], str]) -> AfterValidator:
    """Return a check that rejects a value with the sentence from `fault`, unless it's ""."""

    def check(value: Any) -> Any:
        if sentence := fault(value):
            raise ValueError(sentence)
        return value

    return AfterValidator(check)
