"""The site: `make site` builds it from the pages of this folder, and fails on warnings, broken
links, and pages without a link to them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import download_reference, pending_xref
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
suppress_warnings = ["misc.highlighting_failure"]  # outlines of code contain an ellipsis
# The repository that builds the site, because a fork has another address. Empty outside a workflow.
repository_url = "/".join(
    filter(None, map(os.environ.get, ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")))
)


# the text of a page: what isn't a tag or a code block
_TEXT = re.compile(r"<pre\b.*?</pre>|<[^>]*>|(?P<text>[^<]+)", re.DOTALL)
# paths, error codes, and the choices of an option
_LONG_WORD = re.compile(r"\S{25,}|\S*\|\S*")
# after separators, before capitals, and in the middle of commits
_BREAK = re.compile(
    r"(?<=[/:_.@=|])(?=\w)|(?<=[a-z])(?=[A-Z])|(?<=\b[0-9a-f]{20})(?=[0-9a-f]{20}\b)"
)
_OPTION = re.compile(r"((?<!\S)--?[a-z][\w-]*)")
# headings that the cells of a table with two columns make obvious
_OBVIOUS = {"Contents", "Folder", "Key", "Meaning", "Option", "Term"}
_MOST_LINES = 5  # columns whose cells have their own lines on phones
_MOST_ON_TABLETS = 9  # columns that fit on tablets with ordinary letters
_LONGEST_PATH = 40  # characters of a path that fits into a column on a tablet
_FEWEST_ON_TABLETS = 3  # columns among which a long path is narrow on a tablet
_WHOLE = re.compile(r'<span class="pre">(?=[^<-][^<]{,24}<)(?=[^<]*-)')
_SHADES = re.compile("[░▒]+")
_MOST_ROWS = 25  # rows that phones show without a click if a page has several tables


def setup(app: Sphinx) -> None:
    """Link files and folders of the repository to its address instead of copies in the site; the
    schemas are in its root folder. Let browsers break long paths, so that they fit on phones and
    other columns aren't narrow, but don't let them break options. On phones, show each row of a
    table as a list of labeled cells, or as a paragraph if it has many, and collapse long tables.
    """
    app.add_config_value("repository_url", "", "env", str)
    app.connect("doctree-read", _with_links_to_repository, priority=100)  # before Sphinx copies
    app.connect("doctree-read", _with_whole_options)
    app.connect("doctree-read", _with_labels_in_tables)
    app.connect("doctree-read", _with_collapsible_tables)
    app.connect("doctree-read", _with_scrollable_pictures)
    app.connect("html-page-context", _with_breaks)  # after Sphinx collects the words to search


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


_MOST_LETTERS = 90  # letters of the longest words of all columns that fit with ordinary letters
_LONGEST_AMOUNT = 10  # characters of a date, or of a number with its unit


def _with_labels_in_tables(app: Sphinx, tree: nodes.document) -> None:
    """Start each cell with the heading of its column, which only phones show (`site.css`). The
    first cell is the title of its row, and doesn't need a heading. In tables with two columns,
    both cells have one, except for obvious headings.
    """
    for table in tree.findall(nodes.table):
        head, *rows = table.findall(nodes.row)
        labels = [entry.astext() for entry in head.children]
        table["classes"].append("labeled")
        if len(labels) > _MOST_LINES:
            table["classes"].append("dense")
        if len(labels) > _MOST_ON_TABLETS:
            table["classes"].append("crowded")
        columns = zip(*(row.children for row in rows), strict=True)
        longest = (max(map(len, _words(column)), default=0) for column in columns)
        if sum(longest) > _MOST_LETTERS:
            table["classes"].append("tight")
        paths = (word for row in rows for word in row.astext().split())
        if len(labels) >= _FEWEST_ON_TABLETS and any(len(word) > _LONGEST_PATH for word in paths):
            table["classes"].append("early")
        if len(labels) == 2:
            labels = ["" if label in _OBVIOUS else label for label in labels]
        else:
            labels[0] = ""
        for row in rows:
            for label, entry in zip(labels, row.children, strict=True):
                if len(entry.astext()) <= _LONGEST_AMOUNT:
                    entry["classes"].append("short")
                if label and entry.astext() and isinstance(entry.children[0], nodes.paragraph):
                    entry.children[0].insert(0, nodes.inline("", f"{label}: ", classes=["label"]))


def _words(cells: Iterable[nodes.Node]) -> list[str]:
    return [word for cell in cells for word in cell.astext().split()]


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


def _with_scrollable_pictures(app: Sphinx, tree: nodes.document) -> None:
    """Put pictures without a narrow version into an element that phones can scroll."""
    for picture in list(tree.findall(nodes.image)):
        if isinstance(picture.parent, nodes.paragraph) and len(picture.parent) == 1:
            name = escape(picture["alt"])
            start = f'<div class="picture" tabindex="0" role="region" aria-label="Picture: {name}">'
            block = picture.parent
            place = block.parent.index(block)
            block.parent.insert(place + 1, nodes.raw("", "</div>", format="html"))
            block.parent.insert(place, nodes.raw("", start, format="html"))


def _with_links_to_repository(app: Sphinx, tree: nodes.document) -> None:
    """Replace links to files and folders that the site doesn't contain."""
    site = Path(app.srcdir)
    page = app.env.doc2path(app.env.docname)
    for node in [*tree.findall(download_reference), *tree.findall(pending_xref)]:
        is_page = node["refdomain"] == "doc"
        base, suffix = (site, ".md") if is_page else (page.parent, "")
        path = (base / (node["reftarget"] + suffix)).resolve()
        if path.parent == site / "schema":
            url = "../" * app.env.docname.count("/") + path.name
            node.replace_self(nodes.reference("", "", *node.children, refuri=url))
        elif path.is_dir() or not path.is_relative_to(site):
            node.replace_self(_link_to_repository(app, node, path))


def _link_to_repository(app: Sphinx, node: nodes.Element, path: Path) -> nodes.Node:
    """Return a link to the repository, or the path as code if the repository isn't known."""
    name = path.relative_to(Path(app.srcdir).parent).as_posix()
    if app.config.repository_url:
        kind = "tree" if path.is_dir() else "blob"
        url = f"{app.config.repository_url}/{kind}/main/{name}"
        return nodes.reference("", "", *node.children, refuri=url)
    code = nodes.literal(name, name)
    if name.endswith(node.astext()):
        return code
    return nodes.inline("", "", *node.children, nodes.Text(" in "), code)


def _with_breaks(
    app: Sphinx, name: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    def with_breaks(match: re.Match[str]) -> str:
        if not match["text"]:
            return match[0]
        return _LONG_WORD.sub(lambda word: _BREAK.sub("<wbr>", word[0]), match["text"])

    if "body" in context:
        body = _TEXT.sub(with_breaks, context["body"])
        body = _WHOLE.sub('<span class="pre whole">', body)
        context["body"] = _SHADES.sub(r'<span class="shade">\g<0></span>', body)
