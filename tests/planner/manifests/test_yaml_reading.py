"""The reader: kubectl's dialect, positions, limits, and help with broken text."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dra_planner.documents import yaml_reader
from dra_planner.documents.limits import MAX_DEPTH
from dra_planner.documents.tree import line_of
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import ManifestError
from dra_planner.manifests.documents import read_documents
from dra_planner.sources import Source


def value(text: str) -> object:
    return read_yaml(f"k: {text}")[0]["k"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y", True), ("n", False), ("Yes", True), ("off", False), ("TRUE", True), ("tRue", "tRue"), ("~", None),
        ("", None), ("null", None), ("Null", None), ("nil", "nil"), ("12", 12), ("+12", 12), ("-12", -12),
        ("012", 10), ("0o12", 10), ("0x1F", 31), ("-0x1F", -31), ("0b101", 5), ("1_000", 1000), ("08", 8.0),
        ("12:30", "12:30"), ("12:30:00", "12:30:00"), ("2e0", 2.0), ("1.10", 1.1), (".5", 0.5), ("5.", 5.0),
        ("1e3", 1000.0), ("1E+3", 1000.0), ("=", "="), ("<", "<"), ("2026-01-31", "2026-01-31"), ("0x", "0x"),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"), ("18446744073709551615", 18446744073709551615),
        ("9223372036854775808", 9223372036854775808), ("1.2.3", "1.2.3"), ("+", "+"), (".", "."),
        ("'y'", "y"), ('"12"', "12"), ("!!str 12", "12"), ("!!int 12", 12), ("!!float 12", 12.0), ("!x 12", "12"),
        ("1__0", 10), ("_1", "_1"), ("0_7", 7), ("80Gi", "80Gi"), ("0o8", "0o8"), ("infinity", "infinity"),
    ],
)  # fmt: skip
def test_scalars_are_read_as_kubectl_reads_them(text: str, expected: object) -> None:
    found = value(text)
    assert (type(found), found) == (type(expected), expected)


def test_every_key_and_item_has_its_line() -> None:
    tree, _ = read_yaml(
        "a: 1\nb:\n  - x\n  - y: 2\n    z: [1,\n      2]\nc: |\n  text\nd: {e: 5}\n", first_line=10
    )
    assert [line_of(tree, key) for key in "abcd"] == [10, 11, 16, 18]
    assert [line_of(tree["b"], index) for index in (0, 1)] == [12, 13]
    assert [line_of(tree["b"][1], key) for key in "yz"] == [13, 14]
    assert [line_of(tree["b"][1]["z"], index) for index in (0, 1)] == [14, 15]


def test_last_duplicate_key_takes_precedence_with_its_line() -> None:
    tree, remarks = read_yaml("a: 1\nb: 2\na: 3\n")
    assert (tree, line_of(tree, "a")) == ({"a": 3, "b": 2}, 3)
    assert [(remark.code, remark.line) for remark in remarks] == [("duplicate-key", 3)]


@pytest.mark.parametrize("rest", ["---\nb: 2\n", "...\nb: 2\n", "...\n[}\n"])
def test_text_after_a_document_is_ignored_and_reported(rest: str) -> None:
    tree, remarks = read_yaml(f"a: 1\n{rest}", first_line=5)
    assert tree == {"a": 1}
    assert [(remark.code, remark.line) for remark in remarks] == [("ignored-text", 6)]


def test_question_marks_and_slashes_are_text_as_in_kubectl() -> None:
    tree, remarks = read_yaml(
        "a: what?\nb: \"x\\\\/y\"\nc: ['?']\nd: '\\/'\ne: !!set x\nf: !!binary aGk=\n"
    )
    assert tree == {"a": "what?", "b": "x\\/y", "c": ["?"], "d": "\\/", "e": "x", "f": "hi"}
    assert [remark.code for remark in remarks] == ["yaml-tag"]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("1e6", "1e+06"), ("123456.0", "123456"), ("1.5", "1.5"), ("0.1", "0.1"), ("1.23456789", "1.2345679"),
        ("16777217.0", "1.6777216e+07"), ("1e-5", "1e-05"), (".inf", ".inf"), ("1e39", ".inf"), ("-.inf", "-.inf"),
        ("0x10", "16"), ("y", "true"), ("9223372036854775807", "9223372036854775807"),
    ],
)  # fmt: skip
def test_keys_are_strings(key: str, expected: str) -> None:
    assert list(read_yaml(f"{key}: 1")[0]) == [expected]


def test_merge_sign_outside_of_a_key_is_text() -> None:
    tree, _ = read_yaml("a: <<\nb: [<<, {c: <<}]\n")
    assert tree == {"a": "<<", "b": ["<<", {"c": "<<"}]}
    assert {
        type(tree["a"]),
        type(tree["b"][0]),
        type(tree["b"][1]["c"]),
        type(read_yaml("<<")[0]),
    } == {str}


@pytest.mark.parametrize(
    "text",
    [
        "[&a x, *a]", "[k,&a x,*a]", "- &a x\n- *a", "{p: &a x, q: *a}", '{"p":&a x,"q":*a}', "{'p': k, &a x: *a}",
        "p: !!str &a x\nq: *a", "p: &a !!str x\nq: *a", "&a x: k\nq: *a", "? &a x\n: *a", "--- [&a x, *a]",
        "p:\n  &a x\nq: *a", "p: z && y\nq: &a x\nr: *a", "\ufeff- &a x\n- *a", "p: &a-1_b x\nq: *a-1_b",
    ],
)  # fmt: skip
def test_anchors_are_found_at_any_position(text: str) -> None:
    tree, _ = read_yaml(text)
    assert tree == yaml.safe_load(text)


def test_anchor_characters_in_selectors_and_urls_are_text() -> None:
    text = (
        "a: device.driver == 'x' && true\nb: https://host/?p=1&q=2\nc: [R&D, 'x & y', "
        '"&&"]\nd: &x 1\ne: *x\n'
    )
    assert read_yaml(text)[0] == yaml.safe_load(text)
    plain = text.partition("d: ")[0]
    assert read_yaml(plain)[0] == yaml.safe_load(plain)
    with pytest.raises(Fault, match="unknown anchor"):
        read_yaml(f"{plain}d: *x\n")


def test_anchors_and_merge_keys_are_resolved() -> None:
    text = (
        "a: &a {x: 1, z: 2}\nb: {<<: *a, z: 3}\nc: {z: 3, <<: *a}\nd: {<<: [{x: 5}, *a]}\ne: *a\n"
    )
    tree, remarks = read_yaml(text)
    assert tree["b"] == {"x": 1, "z": 3}
    assert tree["c"] == {"x": 1, "z": 2}  # as in goyaml.v2, a merge key overrides earlier keys
    assert tree["d"] == {"x": 5, "z": 2}
    assert tree["e"] is tree["a"]
    assert [(remark.code, remark.line) for remark in remarks] == [("merged-key", 3)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * (MAX_DEPTH + 1), "nested more than"),
        ("a: &a [*a]", "contains itself"),
        ("a: *b", "unknown anchor 'b'"),
        ("? {a: 1}\n: b", "a key is a mapping"),
        ("? [a]\n: b", "a key is a sequence"),
        ("~: b", "a key is null"),
        ("a: .nan", "a number that JSON can't represent"),
        ("a: .inf", "a number that JSON can't represent"),
        ("a: !!int x", "cannot decode `x` as a !!int"),
        ("a: {<<: 5}", "map merge requires"),
        ("%YAML 3.0\n---\na: 1", "found incompatible YAML document"),
        ("a: \x00", "control characters are not allowed"),
        ("9223372036854775808: b", "a number with more than 63 bits"),
        ('a: "x\\/y"', "unknown escape character"),
        ("a: {b: what?}", "did not find expected ','"),
        ("a: !!binary x", "invalid base64 data"),
    ],
)
def test_invalid_yaml_is_rejected(text: str, words: str) -> None:
    with pytest.raises(Fault) as caught:
        read_yaml(text)
    assert words in caught.value.message


def test_exponential_aliases_are_rejected_quickly() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(Fault) as caught:
        read_yaml("\n".join(lines))
    assert "expands to more than" in caught.value.message


BROKEN = {
    "tab": ("a:\n\tb: 1", 2, "indent"),
    "en dash separator": ("a: 1\n–--\nb: 2", 2, "three plain hyphens"),
    "em dash item": ("a:\n  — name: x\n    b: 1", 2, "plain hyphen"),
    "non-breaking space": ("a:\n\u00a0\u00a0b: 1\n  c: d: e", 2, ""),
    "no space after colon": ("a: 1\nb:2\nc: 3", 2, 'put a space after the colon: "b: 2"'),
    "no space after hyphen": (
        "a:\n-name: x\n  b: 1",
        2,
        'put a space after the hyphen: "- name: x"',
    ),
    "text after quote": ('a:\n  expression: "x" == y', 2, "single quotes"),
    "two colons": ("a: b ? c : d", 1, "put the value of a in quotes"),
    "unclosed quote": ("a: 'b\nc: d", 1, "close the quotation mark"),
    "fence": ("```yaml\na: 1\n```", 1, "Markdown fence"),
    "template": ("a: {{ .Values.x }}", 1, "render the template first"),
    "template line": ("a: 1\n{{- if .x }}\nb: 2", 2, "render the template first"),
}


@pytest.mark.parametrize(("text", "line", "fix"), BROKEN.values(), ids=BROKEN)
def test_syntax_error_is_reported_with_its_line_and_a_fix(text: str, line: int, fix: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_documents([Source("m.yaml", f"x: 1\n---\n{text}")])
    error = caught.value
    assert error.place.file == "m.yaml"
    assert abs(error.place.line - 2 - line) <= 1
    assert fix in error.fix


def test_all_broken_documents_are_reported_together() -> None:
    with pytest.raises(ManifestError) as caught:
        read_documents(
            [Source("a.yaml", "a: [\n---\nb: 1\n---\nc: {\n"), Source("b.yaml", "\tx: 1")]
        )
    places = [
        (error.place.file, error.place.line) for error in (caught.value, *caught.value.others)
    ]
    assert places == [("a.yaml", 2), ("a.yaml", 6), ("b.yaml", 1)]


def test_documents_have_their_file_line_and_index() -> None:
    text = "# first\na: 1\n--- # second\n\nb: 2\n---\n---\n# nothing\n---\nc: 3\n"
    documents, _ = read_documents([Source("m.yaml", text)])
    assert [(item.place.line, item.index, item.data) for item in documents] == [
        (2, 0, {"a": 1}),
        (5, 1, {"b": 2}),
        (10, 3, {"c": 3}),
    ]


@pytest.mark.parametrize(
    ("text", "data", "lines"),
    [
        ('{"a": 1}', [{"a": 1}], [1]),
        (
            '\n{"a": 1}\n{"b": 2}{"c": "\\ud83d\\ude00"}',
            [{"a": 1}, {"b": 2}, {"c": "😀"}],
            [2, 3, 3],
        ),
        ('{"a": 1}\n---\nb: 2\n', [{"a": 1}, {"b": 2}], [1, 3]),
        ('{"a": {"b": [1, 2.5, "x", null, true]}}', [{"a": {"b": [1, 2.5, "x", None, True]}}], [1]),
    ],
)
def test_json_streams_are_read(text: str, data: list[object], lines: list[int]) -> None:
    documents, _ = read_documents([Source("m.json", text)])
    assert [item.data for item in documents] == data
    assert [item.place.line for item in documents] == lines


TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text("abcyn:-#' \"é😀\n\t", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abcyn 1-", max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(TREES)
def test_json_is_read_as_json(tree: object) -> None:
    text = json.dumps({"root": tree}, ensure_ascii=False)
    assert read_documents([Source("m.json", text)])[0][0].data == {"root": tree}
    assert read_documents([Source("m.yaml", f"---\n{text}")])[0][0].data == {"root": tree}


@given(TREES, st.integers(0, 5))
def test_positions_shift_with_the_preceding_text(tree: object, before: int) -> None:
    text = yaml.safe_dump({"root": tree, "tail": [1, {"x": 2}]}, allow_unicode=True)
    here, _ = read_yaml(text)
    there, _ = read_yaml("# comment\n" * before + text)
    assert here == there
    for key in here:
        assert line_of(there, key) == line_of(here, key) + before
        assert text.split("\n")[line_of(here, key) - 1].startswith(f"{key}:")


@given(st.text("ab:-[]{}&*!#|>'\"%@`,? \n\t\\0\u00a0é", max_size=40))
def test_any_text_is_read_or_rejected(text: str) -> None:
    line = 1
    try:
        read_documents([Source("m.yaml", text)])
    except ManifestError as error:
        line = error.place.line
    assert 1 <= line <= text.count("\n") + 2


@given(TREES)
def test_both_parsers_return_the_same_tree(tree: object) -> None:
    text = yaml.safe_dump({"root": tree}, allow_unicode=True)
    expected = read_yaml(text)[0]
    fast = yaml_reader.Parser
    try:
        yaml_reader.Parser = yaml_reader.PurePythonParser
        assert read_yaml(text)[0] == expected
    finally:
        yaml_reader.Parser = fast


def test_flow_mapping_need_not_be_json() -> None:
    documents, _ = read_documents(
        [Source("m.yaml", "{kind: A, on: [1, b]}  # first\n---\nkind: B\n")]
    )
    assert [(each.data["kind"], each.place.line) for each in documents] == [("A", 1), ("B", 3)]
