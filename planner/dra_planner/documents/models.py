"""What the parts of a settings document are made of: closed mappings with camelCase keys, and
checks of their values.

Modules with such parts take annotations as they stand: pydantic would compile those that are texts
at every start.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Part = TypeVar("Part", bound="StrictDocument")


class StrictDocument(BaseModel):
    """A mapping of the fleet: keys are camelCase outside, unknown keys are errors, values are not
    coerced.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=True,
        defer_build=True,
    )


# pydantic reads the signature of each factory: that of a function is known, that of `list` or of a
# model takes long.


def empty_list() -> list[Any]:
    """Return a new list: what a field is where nothing is given."""
    return []


def empty_mapping() -> dict[str, Any]:
    """Return a new dictionary: what a field is where nothing is given."""
    return {}


def nothing_given(part: type[Part]) -> Callable[[], Part]:
    """Return what makes a part with all of its defaults, which needs no validator of its own."""
    return lambda: part.model_construct()


def refused_by(fault: Callable[[Any], str]) -> AfterValidator:
    """Return the check that refuses a value with the sentence that `fault` has for it, "" for
    none.
    """

    def check(value: Any) -> Any:
        if sentence := fault(value):
            raise ValueError(sentence)
        return value

    return AfterValidator(check)
