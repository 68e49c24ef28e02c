"""If you apply the fix for a text that isn't YAML, the text can be read."""

from __future__ import annotations

import pytest
from fix_texts import pattern_of

from dra_planner.errors import ManifestError
from dra_planner.manifests.documents import read_documents
from dra_planner.sources import Source

TEXTS = [
    ("use a plain hyphen as the list marker: -", "a:\n- b\n– c\n", "a:\n- b\n- c\n"),
    ('put a space after the hyphen: "{}"', "- b: c\n-d: e\n", "- b: c\n- d: e\n"),
    (
        "remove the line that begins with %, because kubectl splits the text at --- before it "
        "reads the line",
        "%YAML 1.1\na: b\n",
        "a: b\n",
    ),
    ("indent this line with spaces instead of a tab", "a:\n\tb: c\n", "a:\n  b: c\n"),
    ("use three plain hyphens as the separator: ---", "a: b\n—\nc: d\n", "a: b\n---\nc: d\n"),
    (
        "indent this line with plain spaces instead of non-breaking spaces",
        "a:\n  b: c\n\u00a0\u00a0\u00a0d\n",
        "a:\n  b: c\n    d\n",
    ),
    ('put a space after the colon: "{}: {}"', "a:\n  b:c\n  d: e\n", "a:\n  b: c\n  d: e\n"),
    (
        "put the whole value in single quotes, because text follows the closing quote",
        'a: "b" c\n',
        "a: '\"b\" c'\n",
    ),
    (
        "put the value of {} in quotes, because it contains a colon and a space",
        "a: b: c\n",
        'a: "b: c"\n',
    ),
    ("close the quotation mark", 'a: "b\n', 'a: "b"\n'),
    (
        "replace `{}` with the lines that it represents, or remove it",
        "a:\n  ...\n  b: c\n",
        "a:\n  b: c\n",
    ),
    ("replace {} with a value", "a: {b: ${COUNT}}\n", "a: {b: 1}\n"),
    ("remove the Markdown fence (```) around the manifest", "```yaml\na: b\n```\n", "a: b\n"),
    ("remove the comma before the closing bracket", '{"a": "b",}', '{"a": "b"}'),
]


@pytest.mark.parametrize(("fix", "text", "then"), TEXTS, ids=[fix[:60] for fix, _, _ in TEXTS])
def test_applying_a_fix_makes_the_text_readable(fix: str, text: str, then: str) -> None:
    with pytest.raises(ManifestError) as refused:
        read_documents([Source("m.yaml", text)])
    assert pattern_of(fix).search(refused.value.fix)
    documents, remarks = read_documents([Source("m.yaml", then)])
    assert documents
    assert not remarks
