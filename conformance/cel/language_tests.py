"""Run the conformance tests of the CEL language with upstream's library and with our engine.

    python conformance/cel/language_tests.py --minor 36

The expressions are read from the module cel.dev/expr, which contains the tests, and aren't stored
here. Each expression is evaluated in multiple forms. One form compares it with the value that
the test expects, so that its value is also checked. Expressions with messages,
which device selectors don't support, are counted separately. The exit status is 1 if there is a
difference.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "planner")]

from dra_planner.cel import Dialect  # noqa: E402
from dra_planner.releases import features_of  # noqa: E402
from generate import Case  # noqa: E402  (found through the line above)
from run import ask, build, compare, question, settle  # noqa: E402
from vocabulary import quote  # noqa: E402

MODULE = "cel.dev/expr@v0.25.1"
FILES = (  # noqa: SIM905  (a list of so many words reads worse)
    "basic comparisons conversions fields fp_math integer_math lists logic macros macros2 string "
    "string_ext optionals "
    "parse timestamps bindings_ext plumbing namespace type_deduction"
).split()
DEVICE = {"driver": "d", "attributes": {}, "capacity": {}}
_TEST = re.compile(r"^  test:? \{$(.*?)^  \}$", re.DOTALL | re.MULTILINE)
_EXPRESSION = re.compile(
    r"^    expr:\s*((?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\s)+)", re.MULTILINE
)
_LITERAL = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
_VALUE = re.compile(
    r"value:? \{ (bool|int64|uint64|double|string)_value: (\S+|\"[^\n]*\"|'[^\n]*') \}"
)


def folder() -> Path:
    """Return the folder of the module's tests."""
    command = ["go", "mod", "download", "-json", MODULE]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(json.loads(found.stdout)["Dir"]) / "tests" / "simple" / "testdata"


def expressions(text: str) -> Iterator[tuple[str, str]]:
    """Return the expressions in a file, each with the literal of its expected value, which is empty
    if the value isn't simple.
    """
    for test in _TEST.finditer(text):
        found = _EXPRESSION.search(test[1])
        if found is None:
            continue
        expression = "".join(_unquoted(part) for part in _LITERAL.findall(found[1]))
        value = _VALUE.search(test[1])
        yield expression, _literal(value[1], value[2]) if value is not None else ""


def _unquoted(literal: str) -> str:
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return literal[1:-1]


def _literal(kind: str, text: str) -> str:
    if kind == "string":
        return quote(_unquoted(text))
    if kind == "uint64":
        return text + "u"
    if kind == "double" and not re.search(r"[.einf]", text):
        return text + ".0"
    return text


def cases(minor: int) -> Iterator[Case]:
    """Yield every expression in each of its forms."""
    dialect = Dialect.of(features_of(minor).with_gates(list_attributes=True), "stored")
    tests = folder()
    for name in FILES:
        text = (tests / f"{name}.textproto").read_text()
        for number, (expression, value) in enumerate(expressions(text)):
            forms = [
                expression,
                f"[{expression}].size() == 1",
                f"type({expression}) == type({expression})",
            ]
            if value:
                forms.append(f"({expression}) == {value}")
            for form, code in enumerate(forms):
                yield Case(f"{name}/{number}/{form}", code, dialect, (DEVICE,))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor", type=int, action="append", choices=(34, 35, 36, 37), help="default: all"
    )
    failed = False
    for minor in parser.parse_args().minor or (34, 35, 36, 37):
        program, made = build(minor), list(cases(minor))
        kinds: Counter[str] = Counter()
        for case, answer in zip(made, ask(program, [question(c) for c in made]), strict=True):
            difference = compare(case, answer, costs=False)
            if difference is not None and difference.kind != "unsupported":
                difference = settle(case, ask(program, [question(case, 400)])[0], costs=False)
            kinds["same" if difference is None else difference.kind] += 1
            if difference is not None and difference.kind != "unsupported":
                print(difference)
                failed = True
        counts = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
        print(f"1.{minor}: {len(made)} cases from {len(FILES)} files: {counts}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
