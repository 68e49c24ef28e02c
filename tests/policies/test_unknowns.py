"""Reading properties when some of them are unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_policy.proxy import (
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
    UnknownValueError,
    unknown_checking_proxy,
)

from dra_policies.unknown_values import UNKNOWN, Properties, has_unknown, plain, unknown_paths

SENTINELS = [
    UNKNOWN_BOOLEAN_VALUE,
    UNKNOWN_NUMBER_VALUE,
    UNKNOWN_OBJECT_VALUE,
    UNKNOWN_STRING_VALUE,
]


def read(**props: object) -> Properties:
    return Properties(plain(unknown_checking_proxy(dict(props)), UnknownValueError))


@pytest.mark.parametrize("sentinel", SENTINELS)
def test_an_unknown_of_any_type_is_read_as_unknown(sentinel: str) -> None:
    props = read(known="x", unknown=sentinel, deep={"list": ["a", sentinel]})

    assert props.text("known") == "x"
    assert props.at("unknown") is UNKNOWN
    assert props.text("unknown", "default") is None
    assert props.texts("deep.list") == ("a", None)
    assert list(unknown_paths(props.values)) == ["unknown", "deep.list[1]"]
    assert has_unknown(UNKNOWN)
    assert has_unknown([{"a": UNKNOWN}])
    assert not has_unknown({"a": ["b"]})


def test_everything_below_an_unknown_is_unknown() -> None:
    props = read(config=UNKNOWN_OBJECT_VALUE)

    assert props.at("config.labels.a") is UNKNOWN
    assert props.count("config.size", 3) is None
    assert props.flag("config.on", True) is None
    assert props.mapping("config.labels") is None
    assert props.items("config.taints") is None
    assert props.has("config.anything") is None


def test_absent_properties_have_defaults() -> None:
    props = read(config={"none": None})

    assert props.text("a.b", "x") == "x"
    assert props.count("config.none", 7) == 7
    assert props.texts("list") == ()
    assert props.mapping("labels") == {}
    assert props.has("config.none") is False


def test_numbers_are_read_as_integers() -> None:
    assert read(size=3.0).count("size", 0) == 3
    assert read(size="12").count("size", 0) == 12


@pytest.mark.parametrize(
    "value", [True, "many", 1.5, [1], {"a": 1}, "9" * 5000], ids=lambda value: repr(value)[:20]
)
def test_a_value_of_the_wrong_type_is_read_as_unknown(value: object) -> None:
    assert read(size=value).count("size", 0) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text() | st.sampled_from(SENTINELS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(min_size=1), JSON, max_size=5))
def test_reading_never_raises(props: dict[str, object]) -> None:
    copied = plain(unknown_checking_proxy(props), UnknownValueError)

    assert set(copied) == set(props)
    for key in copied:
        for read_as in ("text", "texts", "mapping", "items", "has", "below"):
            getattr(Properties(copied), read_as)(key)
    list(unknown_paths(copied))
