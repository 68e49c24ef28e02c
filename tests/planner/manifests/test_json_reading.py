"""JSON is read as JSON, with the same values and lines as in the YAML reader, but faster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dra_planner.documents import json_reader
from dra_planner.documents.json_reader import decode_json, read_json
from dra_planner.documents.limits import MAX_DEPTH
from dra_planner.documents.tree import Map, Seq, line_at
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import ManifestError
from dra_planner.manifests import Manifests
from dra_planner.manifests.documents import read_documents
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

PROJECT = Path(__file__).parents[3]
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
TREES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text("abyn:-#' {}[],\"é\n\t\\", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text('abyn 1-{]"', max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)
LAYOUTS = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, 0, 1, 4]),
        "separators": st.sampled_from([(",", ":"), (", ", ": ")]),
    }
)


def described(node: Any) -> Any:
    """Return a tree with the classes of its values and every line in it."""
    if isinstance(node, Map):
        return node.line, node.lines, [(key, described(value)) for key, value in node.items()]
    if isinstance(node, Seq):
        return node.line, node.lines, [described(value) for value in node]
    return type(node), node


@given(TREES, LAYOUTS, st.sampled_from([0, 1, 12]))
def test_json_reader_finds_the_values_and_lines_of_the_yaml_reader(tree, layout, levels):
    text = json.dumps({"root": tree, "tail": 1}, ensure_ascii=False, **layout)
    before = json_reader._LEVELS_ONE_BY_ONE
    try:
        json_reader._LEVELS_ONE_BY_ONE = levels
        assert described(read_json(text, 7)[0]) == described(read_yaml(text, 7)[0])
    finally:
        json_reader._LEVELS_ONE_BY_ONE = before


@given(
    TREES,
    LAYOUTS,
    st.integers(0, 10**6),
    st.sampled_from(['"', "}", "]", ",", "x", "\\", "\n", ""]),
)
def test_syntax_error_is_reported_at_its_line(tree, layout, at, sign):
    text = json.dumps({"root": tree}, **layout)
    begin = text.index("root") + len("root")
    at = begin + at % (len(text) - begin)
    text = text[:at] + sign + text[at + 1 :]
    wrong = None
    try:
        json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        wrong = error
    if wrong is not None:
        with pytest.raises(ManifestError) as caught:
            read_documents([Source("m.json", text)])
        assert caught.value.message == f"can't be read as YAML: JSON: {wrong.msg}"
        assert caught.value.place.line == wrong.lineno


def objects_of(path: Path) -> list[Any]:
    found = []
    for document in yaml.load_all(path.read_text(), yaml.CSafeLoader):
        parts = [part for part in document.values() if isinstance(part, list)]
        held = [document] if "kind" in document else [each for part in parts for each in part]
        found += [each for each in held if isinstance(each, dict) and "kind" in each]
    return found


def both_ways(text: str) -> list[tuple[Manifests, Any]]:
    """Return the result of reading a text as JSON and as YAML, both from the same line on."""
    features = features_of(36)
    read = [read_checked([Source("m", before + text)], features) for before in ("\n", "---\n")]
    return [(each, each.diagnostics) for each in read]


SOME = [
    *sorted((PROJECT / "examples").glob("workloads*/*.yaml")),
    *sorted((PROJECT / "tests/planner/plan/running_clusters").glob("*.yaml"))[::6],
]


@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_json_and_yaml_have_the_same_objects_and_findings(path):
    text = json.dumps({"apiVersion": "v1", "items": objects_of(path), "kind": "List"}, indent=4)
    as_json, as_yaml = both_ways(text)
    assert as_json == as_yaml


def test_findings_have_the_lines_of_their_values():
    def broken(number: int) -> Any:
        spec = {
            "devices": {
                "requests": [{"name": "a"}, {"name": "UPPER", "exactly": {"count": -1}}],
                "x": number,
            }
        }
        whole = {
            "kind": "ResourceClaim",
            "apiVersion": "resource.k8s.io/v1",
            "metadata": {"name": f"c{number}"},
        }
        return whole | {
            "spec": spec
            if number % 2
            else {**spec, "devices": {"requests": spec["devices"]["requests"]}}
        }

    text = json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [broken(number) for number in range(4)]},
        indent=4,
    )
    (_, as_json), (_, as_yaml) = both_ways(text)
    assert as_json == as_yaml
    lines = text.split("\n")
    assert {lines[each.place.line - 2].strip().partition(":")[0] for each in as_json} > {
        '"x"',
        '"count"',
    }


def test_duplicate_key_is_reported_at_its_line():
    (document,), (remark,) = read_documents([Source("m.json", '{"a": {"b": 1,\n"c": 2,\n"b": 3}}')])
    assert document.data == {"a": {"b": 3, "c": 2}}
    assert (remark.code, remark.place.line) == ("duplicate-key", 3)
    (document,), _ = read_documents([Source("m.json", '{"a": "\\ud83d\\ude00", "a": 2}')])
    assert document.data == {"a": 2}


@pytest.mark.parametrize(
    "text",
    [
        '"x\\/y"',
        '"\\ud83d\\ude00"',
        '"a\u2028b"',
        '"\x7f"',
        '"\u0085"',
        f'{{"{"k" * 1100}": 1}}',
        '"\\u0026\\u0026"',
    ],
)
def test_json_that_yaml_rejects_also_has_lines(text):
    tree, remarks = read_json(f'{{"a":\n {text},\n"b": 1}}', 5)
    assert (tree, remarks) == (json.loads(f'{{"a": {text}, "b": 1}}'), [])
    assert [line_at(tree, (key,)) for key in "ab"] == [5, 7]


def test_lone_surrogates_and_deep_nesting_are_rejected():
    deep = "\n".join(['{"a":'] * MAX_DEPTH) + "{}" + "}" * MAX_DEPTH
    half = '{"b": "\\ud83d"}'
    with pytest.raises(ManifestError) as caught:
        read_documents([Source("m.json", f"{deep}\n{half}\n{{{half[1:]}\n")])
    described = [(each.message, each.place.line) for each in (caught.value, *caught.value.others)]
    assert "nested more than" in described[0][0]
    assert "half of a surrogate pair" in described[1][0]
    assert [line for _, line in described] == [MAX_DEPTH, MAX_DEPTH + 1, MAX_DEPTH + 2]
    assert decode_json(deep.replace("{}", "1")).tree(1)[0]
    with pytest.raises(Fault, match="nested"):
        read_json(deep)


def test_collection_without_a_visited_parent_has_no_line():
    tree, _ = read_json('{"a": {"b": [1]}}')
    assert (tree["a"].line, tree["a"].lines) == (0, (0,))
