"""If you apply the fix in an error from a planner function, the function no longer raises the
error.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fix_texts import pattern_of
from function_fixes import FUNCTIONS, InFunction


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case.fix[:60])
def test_applying_the_fix_of_a_function_succeeds(tmp_path: Path, case: InFunction) -> None:
    assert pattern_of(case.fix).search(case.advice(tmp_path))
    assert case.follow(tmp_path)
