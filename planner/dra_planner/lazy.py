"""What is loaded on first use, so that a run imports only the modules it needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`: each name of `homes` comes from the module of the package that it stands for.

    The package imports the same names under TYPE_CHECKING. No name may be that of a module of the package: once that
    is imported, the name is taken.
    """

    def load(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


class LateModule:
    """A module whose functions stand in a table: it is loaded when one of them is called."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            return getattr(import_module(self._name), name)(*arguments)

        return call


if TYPE_CHECKING:
    late_pattern = re.compile
else:

    class late_pattern:  # stands where a function does
        """A pattern as `re.compile` makes it, which is compiled when it is first asked for something.

        A start of the command loads some forty patterns of ours and uses half of them; to compile one takes as long as
        to load a small module.
        """

        def __init__(self, text: str, flags: int = 0) -> None:
            self._given = text, flags

        def __getattr__(self, name: str) -> Any:
            value = getattr(re.compile(*self._given), name)
            setattr(self, name, value)  # from now on as fast as that of the pattern itself
            return value
