"""Draw sentences and messages for readers to grade, each as native, odd, or hard.

    .venv/bin/python tests/project/draw_english_sample.py --seed 7 > sample.txt

Aim before a release: of 200 sentences and 40 messages, at least 90 % native and none hard. If a
sentence is odd, fix its habit everywhere, add it to `english_habits`, and draw with another seed.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from project.code_sentences import code_sentences  # noqa: E402
from project.english_habits import sentences  # noqa: E402

PACKAGES = ("planner", "policies", "command", "components", "sandbox")
PAGES = ("README.md", "CHANGELOG.md", "docs/*.md", "docs/guide/*.md", "docs/operations/*.md")
UPSTREAM = (
    "dra_planner/allocation/search/",
    "dra_planner/cel/",
    "dra_planner/manifests/validation/",
    "dra_sandbox/clouds/",
)
"""Folders whose strings are messages of Kubernetes and the clouds."""
SHORTEST = 6


_LINK = re.compile(r"\[[^\]]*\]\([^)]*\)")
_NOT_A_SENTENCE = re.compile(
    r"</|<sub>|\bgithub \S+/|commit [0-9a-f]{8}|\[Unit\]|[{};]\s*$|\$\(|--?\w+=\w"
)
"""Markup, scripts, and the addresses of sources."""


def _words(text: str) -> int:
    text = _LINK.sub("", text)
    return 0 if _NOT_A_SENTENCE.search(text) else len(re.findall(r"[A-Za-z']{2,}", text))


def _page_sentences() -> Iterator[str]:
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            for each in sentences(path.read_text(encoding="utf-8")):
                if _words(each.text) >= SHORTEST:
                    yield f"{path.relative_to(ROOT)}:{each.line}: {each.text}"


def _code_paths() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if not any(folder in str(path) for folder in UPSTREAM):
                yield path


def _string_sentences() -> Iterator[str]:
    for path in _code_paths():
        for each in code_sentences(path):
            if _words(each.text) >= SHORTEST:
                yield f"{path.relative_to(ROOT)}:{each.line}: {each.text}"


def _messages() -> Iterator[str]:
    """Yield the calls in the code that have a message and a fix, with both."""
    for path in _code_paths():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                named = {each.arg: each.value for each in node.keywords}
                message = named.get("message", node.args[-1] if node.args else None)
                fix = named.get("fix")
                if fix is None or message is None:
                    continue
                texts = [ast.unparse(each) for each in (message, fix)]
                if all(_words(text) > 2 for text in texts):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}: {texts[0]}\n    → {texts[1]}"


def draw(seed: int, sentence_count: int = 200, message_count: int = 40) -> list[str]:
    """Return the sample: half of the sentences from pages, half from strings, then messages."""
    chosen = random.Random(seed)
    half = sentence_count // 2
    return [
        *chosen.sample(sorted(set(_page_sentences())), half),
        *chosen.sample(sorted(set(_string_sentences())), sentence_count - half),
        *chosen.sample(sorted(set(_messages())), message_count),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, required=True, help="seed of the random choices")
    print("\n".join(draw(parser.parse_args().seed)))
