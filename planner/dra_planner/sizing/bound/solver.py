"""Load the optional solver of linear and integer programs, and create reproducible programs."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def load_solver() -> Any | None:
    """Return the module highspy, or None if it isn't installed."""
    try:
        return import_module("highspy")
    except ImportError:
        return None


def new_program(solver: Any, **options: Any) -> Any:
    """Return an empty program with these HiGHS options. It prints nothing and is reproducible."""
    program = solver.Highs()
    fixed = {"output_flag": False, "threads": 1, "random_seed": 0}
    for name, value in {**fixed, **options}.items():
        program.setOptionValue(name, value)
    return program
