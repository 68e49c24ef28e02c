"""`late_pattern` beside `re.compile`."""

from __future__ import annotations

import re

import pytest

from dra_planner.lazy import late_pattern


def test_finds_what_a_compiled_pattern_finds() -> None:
    given = r"(?P<word>[a-z]+)-?", re.IGNORECASE
    late, compiled = late_pattern(*given), re.compile(*given)
    for _ in range(2):  # also when it is asked again
        assert late.fullmatch("One-")["word"] == compiled.fullmatch("One-")["word"] == "One"
        assert late.findall("one-Two 3") == compiled.findall("one-Two 3") == ["one", "Two"]
        assert late.sub("x", "a-1") == compiled.sub("x", "a-1") == "x1"
    assert late.fullmatch("1") is None
    assert (late.pattern, late.flags) == (compiled.pattern, compiled.flags)


def test_says_what_is_wrong_when_it_is_first_used() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        late.match("")
