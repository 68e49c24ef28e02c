"""Reads and checks the inputs of a component. It reports all errors before the first resource is
declared.

Identifiers can be outputs, which aren't known yet and aren't checked. Everything else is a plain
value, because numbers, enums, and structures don't work as outputs across languages.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

import pulumi
from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails

from dra_planner.clouds import range_fault
from dra_planner.errors import RejectedValue
from dra_planner.wording import counted, either


class WrongInputs(InputPropertiesError, pulumi.RunError):
    """The inputs of a component are invalid. The engine prints the sentences in any language,
    without a traceback.
    """


class InputReader:
    """Reads the inputs of a component one by one. `finish` raises an error if any input is
    invalid.
    """

    def __init__(self, component: str, name: str, args: object, known: type) -> None:
        self._title = f'{component} "{name}"'
        self._errors: list[InputPropertyErrorDetails] = []
        self._at = ""
        self._take_over(component, args, known)

    def _take_over(self, component: str, args: object, known: type) -> None:
        self._args: Mapping[str, Any] = (
            cast(Mapping[str, Any], args) if isinstance(args, Mapping) else {}
        )
        if not isinstance(args, Mapping):
            self.refuse("args", f"must be a dictionary of inputs, not {_shown(args)}")
        names = list(_fields(known))
        for key in self._args:
            if key not in names:
                nearest = get_close_matches(str(key), names, 1)
                hint = (
                    f'did you mean "{nearest[0]}"?' if nearest else f"inputs are {', '.join(names)}"
                )
                self.refuse(str(key), f"isn't an input of {component}; {hint}")

    def refuse(self, path: str, reason: str) -> None:
        """Record an error in the input at `path`, in Python's names, for example
        `pools[0].machine`.
        """
        self._errors.append({"property_path": f"{self._at}{path}", "reason": reason})

    def inside(self, path: str, args: object, known: type) -> "InputReader":
        """Return a reader of the structure at `path`. Its errors are also errors of this reader."""
        inner = object.__new__(InputReader)
        inner._title, inner._errors, inner._at = self._title, self._errors, f"{self._at}{path}."
        component = known.__name__.removesuffix("Settings").removesuffix("Args")
        inner._take_over(component, args, known)
        return inner

    def finish(self) -> None:
        """Raise WrongInputs with a sentence for each error, if there are errors."""
        if not self._errors:
            return
        head = f"{self._title} has {counted(len(self._errors), 'wrong input')}:"
        lines = [f"  {error['property_path']}: {error['reason']}" for error in self._errors]
        details: list[InputPropertyErrorDetails] = [
            {"property_path": camel(error["property_path"]), "reason": error["reason"]}
            for error in self._errors
        ]
        raise WrongInputs("\n".join([head, *lines]), details)

    def text(
        self,
        key: str,
        default: str | None = None,
        *,
        pattern: str = "",
        meaning: str = "",
        check: Callable[[str], str | RejectedValue | None] | None = None,
    ) -> str:
        """Return a plain text that matches `pattern`, described by `meaning`, or passes `check`
        (which returns a problem, or "" or None).
        """
        value = self._take(key, default)
        if value is None or (value == default and not self.has(key)):
            return default or ""
        if not isinstance(value, str) or not value:
            self.refuse(key, f"must be a string, not {_shown(value)}")
            return ""
        if pattern and not re.fullmatch(pattern, value):
            self.refuse(key, f'"{value}" is not {meaning}')
        elif check and (problem := check(value)):
            self.refuse(key, str(problem))
        return value

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return one of `choices`."""
        value = self._take(key, default)
        if value not in choices:
            self.refuse(key, f"must be {either(choices)}, not {_shown(value)}")
            return default
        return str(value)

    def whole(
        self, key: str, default: int | None = None, *, least: int = 0, most: int = 1_000_000
    ) -> int:
        """Return an integer. 3.0 is accepted as 3, because the engine passes numbers as floats."""
        value = self._take(key, default)
        if value is None:
            return default or 0
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            self.refuse(key, f"must be an integer, not {_shown(value)}")
            return default or least
        if problem := range_fault(int(value), range(least, most + 1)):
            self.refuse(key, problem)
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            self.refuse(key, f"must be true or false, not {_shown(value)}")
            return default
        return value

    def texts(
        self,
        key: str,
        *,
        pattern: str = "",
        meaning: str = "",
        check: Callable[[str], str | RejectedValue | None] | None = None,
    ) -> list[str]:
        """Return a list of plain texts, each checked as by `text`, empty if it's unset."""
        value = self._take(key, [])
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.refuse(key, f"must be a list of strings, not {_shown(value)}")
            return []
        items = cast(Sequence[Any], value)
        for index, item in enumerate(items):
            if not isinstance(item, str) or not item:
                self.refuse(f"{key}[{index}]", f"must be a string, not {_shown(item)}")
            elif pattern and not re.fullmatch(pattern, item):
                self.refuse(f"{key}[{index}]", f'"{item}" is not {meaning}')
            elif check and (problem := check(item)):
                self.refuse(f"{key}[{index}]", str(problem))
        return [item for item in items if isinstance(item, str)]

    def identifier(
        self,
        key: str,
        *,
        required: bool = False,
        pattern: str = "",
        meaning: str = "",
        check: Callable[[str], str | RejectedValue | None] | None = None,
    ) -> pulumi.Input[str] | None:
        """Return a text that can be an output. A plain text is checked."""
        value = self._take(key, None, required=required)
        if value is None or isinstance(value, pulumi.Output):
            return cast(pulumi.Output[str] | None, value)
        if not isinstance(value, str) or not value:
            self.refuse(key, f"must be a string or an output, not {_shown(value)}")
            return None
        if pattern and not re.fullmatch(pattern, value):
            self.refuse(key, f'"{value}" is not {meaning}')
        elif check and (problem := check(value)):
            self.refuse(key, str(problem))
        return value

    def required_identifier(
        self, key: str, *, pattern: str = "", meaning: str = ""
    ) -> pulumi.Input[str]:
        """Return a required text that can be an output."""
        return self.identifier(key, required=True, pattern=pattern, meaning=meaning) or ""

    def identifiers(
        self, key: str, *, required: bool = False
    ) -> pulumi.Input[list[pulumi.Input[str]]]:
        """Return a list of texts, empty if it's unset. Each element or the whole list can be an
        output.
        """
        value = self._take(key, None, required=required)
        if value is None:
            return []
        if isinstance(value, pulumi.Output):
            return cast(pulumi.Output[list[pulumi.Input[str]]], value)
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.refuse(key, f"must be a list of strings or outputs, not {_shown(value)}")
            return []
        items = cast(Sequence[Any], value)
        for index, item in enumerate(items):
            if not isinstance(item, pulumi.Output) and (not isinstance(item, str) or not item):
                self.refuse(f"{key}[{index}]", f"must be a string or an output, not {_shown(item)}")
        if required and not items:
            self.refuse(key, "must not be empty")
        return list(items)

    def some_identifiers(
        self, key: str, *, pattern: str = "", meaning: str = ""
    ) -> list[pulumi.Input[str]]:
        """Return a plain list of texts that can be outputs. Plain texts are checked."""
        value = self._take(key, [])
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.refuse(key, f"must be a list of strings or outputs, not {_shown(value)}")
            return []
        items = cast(Sequence[Any], value)
        for index, item in enumerate(items):
            if isinstance(item, pulumi.Output):
                continue
            if not isinstance(item, str) or not item:
                self.refuse(f"{key}[{index}]", f"must be a string or an output, not {_shown(item)}")
            elif pattern and not re.fullmatch(pattern, item):
                self.refuse(f"{key}[{index}]", f'"{item}" is not {meaning}')
        return list(items)

    def labels(
        self, key: str, *, most: int = 1_000, check: Callable[[str, str], str] | None = None
    ) -> dict[str, pulumi.Input[str]]:
        """Return a map of at most `most` texts, whose values may be outputs.

        `check` receives a key and its value ("" for an output), and returns a problem or "".
        """
        value = self._take(key, {})
        if not isinstance(value, Mapping):
            self.refuse(key, f"must be a map of strings, not {_shown(value)}")
            return {}
        entries = cast(Mapping[str, Any], value)
        for label, text in entries.items():
            if not isinstance(text, str | pulumi.Output):
                self.refuse(f"{key}.{label}", f"must be a string, not {_shown(text)}")
            elif check and (problem := check(label, text if isinstance(text, str) else "")):
                self.refuse(f"{key}.{label}", problem)
        if len(entries) > most:
            self.refuse(key, f"has {len(entries)} entries, but the cloud allows at most {most}")
        return dict(entries)

    def flags(self, key: str) -> dict[str, bool]:
        """Return a map of booleans, empty if it's unset."""
        value = self._take(key, {})
        if not isinstance(value, Mapping):
            self.refuse(key, f"must be a map of true or false values, not {_shown(value)}")
            return {}
        entries = cast(Mapping[str, Any], value)
        for name, item in entries.items():
            if not isinstance(item, bool):
                self.refuse(f"{key}.{name}", f"must be true or false, not {_shown(item)}")
        return {name: item for name, item in entries.items() if isinstance(item, bool)}

    def wholes(self, key: str) -> dict[str, int]:
        """Return a map of integers, empty if it's unset."""
        value = self._take(key, {})
        if not isinstance(value, Mapping):
            self.refuse(key, f"must be a map of integers, not {_shown(value)}")
            return {}
        numbers: dict[str, int] = {}
        for name, item in cast(Mapping[str, Any], value).items():
            if (
                isinstance(item, bool)
                or not isinstance(item, int | float)
                or item != int(item)
                or item < 0
            ):
                self.refuse(f"{key}.{name}", f"must be an integer, not {_shown(item)}")
            else:
                numbers[name] = int(item)
        return numbers

    def has(self, key: str) -> bool:
        """Return whether the input is set."""
        return self._args.get(key) is not None

    def block(self, key: str) -> Mapping[str, Any]:
        """Return a structure without its unset fields. The code that uses the structure checks
        it.
        """
        value = self._take(key, {})
        if not isinstance(value, Mapping):
            self.refuse(key, f"must be a structure, not {_shown(value)}")
            return {}
        entries = cast(Mapping[str, Any], value)
        return {name: item for name, item in entries.items() if item is not None}

    def blocks(self, key: str) -> list[Mapping[str, Any]]:
        """Return a list of structures to read one by one, empty if it's unset."""
        value = self._take(key, [])
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.refuse(key, f"must be a list, not {_shown(value)}")
            return []
        items = cast(Sequence[Any], value)
        for index, item in enumerate(items):
            if not isinstance(item, Mapping):
                self.refuse(f"{key}[{index}]", f"must be a structure, not {_shown(item)}")
        return [cast(Mapping[str, Any], item) for item in items if isinstance(item, Mapping)]

    def _take(self, key: str, default: Any, *, required: bool | None = None) -> Any:
        value: Any = self._args.get(key)
        if value is not None:
            if isinstance(value, pulumi.Output) and required is None:
                self.refuse(
                    key,
                    "must be a plain value, not an output, because this value determines which "
                    "resources the component declares",
                )
                return default
            return cast(Any, value)
        if required or (required is None and default is None):
            self.refuse(key, "is missing")
        return default


def _fields(known: type) -> Collection[str]:
    """Return the fields of a TypedDict and its bases."""
    return known.__annotations__.keys()


def camel(path: str) -> str:
    """Return a Python name or path in the form of Pulumi's schema: publicAccessCidrs."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), path)


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value}"' if value else "empty text"
        case int() | float():
            return str(value)
        case Mapping():
            return "a map"
        case Sequence():
            return "a list"
        case pulumi.Output():
            return "an output"
        case _:
            return type(value).__name__
