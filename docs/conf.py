"""The site: `make site` builds it from the pages of this folder, and fails on warnings, broken
links, and pages without a link to them.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx

project = "pulumi-dra"
copyright = "the authors of pulumi-dra"
extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns: list[str] = []
templates_path = ["templates"]
html_theme = "furo"
html_title = "pulumi-dra"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_use_index = False  # no page defines terms for it
highlight_language = "none"
html_extra_path = ["schema"]
html_copy_source = html_show_sourcelink = False
myst_heading_anchors = 3
myst_links_external_new_tab = False
smartquotes = False  # show options as users type them
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
suppress_warnings = [
    # links to files that aren't pages only show their text; a test follows all links
    "myst.xref_missing",
    "misc.highlighting_failure",  # outlines of code contain an ellipsis
]


# paths, error codes, and the choices of an option
_LONG_WORD = re.compile(r"\S{25,}|\S*\|\S*")
_BREAK = re.compile(r"(?<=[/:_.@=|])(?=\w)|(?<=[a-z])(?=[A-Z])")
_OPTION = re.compile(r"((?<!\S)--?[a-z][\w-]*)")
_MOST_LINES = 5  # columns whose cells have their own lines on phones
_MOST_ON_TABLETS = 10  # columns that fit on tablets with ordinary letters
_MOST_ROWS = 25  # rows that phones show without a click if a page has several tables


def setup(app: Sphinx) -> None:
    """Prevent copies of repository files in the site; the schemas are in its root folder. Let
    browsers break long paths in tables, so that the other columns aren't narrow, but don't let them
    break options. On phones, show each row of a table as a list of labeled cells, or as a paragraph
    if it has many, and collapse long tables.
    """
    app.connect("doctree-read", _without_downloads, priority=100)  # before Sphinx collects them
    app.connect("doctree-read", _with_whole_options)
    app.connect("doctree-read", _with_breaks_in_tables)
    app.connect("doctree-read", _with_labels_in_tables)
    app.connect("doctree-read", _with_collapsible_tables)


def _with_whole_options(app: Sphinx, tree: nodes.document) -> None:
    """Prevent line breaks in options. Browsers break lines after the hyphens."""
    for literal in tree.findall(nodes.literal):
        parts = _OPTION.split(literal.astext())
        if len(parts) > 1:
            literal.clear()
            for index, part in enumerate(parts):
                is_option = index % 2 == 1
                literal += (
                    nodes.inline("", part, classes=["option"]) if is_option else nodes.Text(part)
                )


def _with_breaks_in_tables(app: Sphinx, tree: nodes.document) -> None:
    for entry in tree.findall(nodes.entry):
        for text in list(entry.findall(nodes.Text)):
            first, *rest = _LONG_WORD.sub(lambda word: _BREAK.sub("\0", word[0]), text).split("\0")
            broken: list[nodes.Node] = [nodes.Text(first)]
            for part in rest:
                broken += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
            text.parent.replace(text, broken)


def _with_labels_in_tables(app: Sphinx, tree: nodes.document) -> None:
    """Start each cell with the heading of its column, which only phones show (`site.css`). Tables
    with two columns don't need headings.
    """
    for table in tree.findall(nodes.table):
        head, *rows = table.findall(nodes.row)
        labels = [entry.astext() for entry in head.children]
        table["classes"].append("labeled")
        if len(labels) > _MOST_LINES:
            table["classes"].append("dense")
        if len(labels) > _MOST_ON_TABLETS:
            table["classes"].append("crowded")
        for row in rows if len(labels) > 2 else ():
            for label, entry in zip(labels[1:], row.children[1:], strict=True):
                if label and entry.astext() and isinstance(entry.children[0], nodes.paragraph):
                    entry.children[0].insert(0, nodes.inline("", f"{label}: ", classes=["label"]))


def _with_collapsible_tables(app: Sphinx, tree: nodes.document) -> None:
    """On pages with several long tables, put each of them into an element that `site.js` closes on
    phones. Tables with two columns are lists of terms or options, which readers search.
    """
    rows = {table: list(table.findall(nodes.row)) for table in tree.findall(nodes.table)}
    long_tables = [
        table for table, (head, *rest) in rows.items() if len(head) > 2 and len(rest) > _MOST_ROWS
    ]
    for table in long_tables if len(long_tables) > 1 else ():
        summary = f"<summary>Table with {len(rows[table]) - 1} rows</summary>"
        start = nodes.raw("", f'<details class="rows" open>{summary}', format="html")
        at = table.parent.index(table)
        table.parent.insert(at + 1, nodes.raw("", "</details>", format="html"))
        table.parent.insert(at, start)


def _without_downloads(app: Sphinx, tree: nodes.document) -> None:
    root = "../" * app.env.docname.count("/")
    for node in list(tree.findall(download_reference)):
        folder, _, name = node["reftarget"].rpartition("/")
        is_schema = folder.endswith("schema")
        kept = (
            nodes.reference("", "", *node.children, refuri=root + name)
            if is_schema
            else nodes.inline("", "", *node.children)
        )
        node.replace_self(kept)
