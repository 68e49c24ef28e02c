"""Public names of a package that are loaded on first use, so that a run imports only the modules it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


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
