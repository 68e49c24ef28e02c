"""The parser's automaton, which runs the tables of the grammar, and performs a series of reductions
in one step.

A grammar with a rule for every precedence level reduces each literal about ten times, from
`literal` to `expr`, and only the topmost state changes. The end of such a series depends on three
things: the state below, the topmost state, and the kind of the next word. Therefore, it's computed
once and then looked up, with the callbacks combined into one function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dra_planner.cel.syntax.tables import END, Production, Tables

Callback = Callable[[list[Any]], Any]
Step = Callable[[Any], Any]
_Run = tuple[int, Step | None]
_Action = int | dict[int, _Run] | tuple[int, str, Callback]


class RuleCallbacks(Protocol):
    """An object with a method for each rule. The method has the rule's name, and gets the values of
    the rule.
    """

    def compose(self, names: Sequence[str]) -> Step | None:
        """Return one function for a series of rules with one value each, or None if it changes
        nothing.
        """


class Word(str):
    """A word of the expression: the kind of its terminal, and its offset."""

    __slots__ = ("position", "type")

    position: int
    type: str


class Unexpected(ValueError):
    """A word in an invalid position, or a character that doesn't start a word (`word` is None)."""

    def __init__(self, position: int, word: str | None, character: str = "") -> None:
        super().__init__(position)
        self.position, self.word, self.character = position, word, character


class Automaton:
    """Parses with tables, and calls the builder for the result of each rule."""

    def __init__(self, tables: Tables, builder: RuleCallbacks) -> None:
        self._tables = tables
        self._builder = builder
        self._actions: list[dict[str, _Action]] = [
            {**goto, **{kind: self._action(rule) for kind, rule in reduce.items()}}
            for goto, reduce in zip(tables.goto, tables.reduce, strict=True)
        ]

    def _action(self, rule: Production) -> _Action:
        """Return the known series by the state below, or a reduction of several words."""
        return {} if rule.size == 1 else (rule.size, rule.origin, self._callback(rule))

    def _callback(self, rule: Production) -> Callback:
        callback: Callback = getattr(self._builder, rule.name)
        taken = rule.taken
        if taken == tuple(range(rule.size)):
            return callback
        return lambda values: callback(
            [None if place is None else values[place] for place in taken]
        )

    def _run(self, below: int, top: int, kind: str) -> _Run:
        """Return the end of a series of reductions with one value, from a state and the kind of the
        next word.
        """
        names: list[str] = []
        while not (kind == END and top == self._tables.end):
            rule = self._tables.reduce[top].get(kind)
            if rule is None or rule.size != 1:
                break
            if rule.name:
                names.append(rule.name)
            top = self._tables.goto[below][rule.origin]
        return top, self._builder.compose(names)

    def parse(self, text: str) -> Any:
        """Return the builder's result for the expression. Raises `Unexpected`, and all errors of
        the builder.
        """
        states: list[int] = [0]
        values: list[Any] = []
        offset = last = 0
        word = self._tables.word.match
        while offset < len(text):
            match = word(text, offset)
            if match is None:
                raise Unexpected(offset, None, text[offset])
            kind = match.lastgroup
            assert kind is not None
            if kind not in self._tables.ignored:
                value: Any = None
                if kind in self._tables.kept:
                    value = Word(match[0])
                    value.type, value.position = kind, offset
                if not self._shift(states, values, kind, value):
                    raise Unexpected(offset, match[0])
                last = offset
            offset = match.end()
        if not self._shift(states, values, END, None):
            raise Unexpected(last, "<EOF>")
        return values[-1]

    def _shift(self, states: list[int], values: list[Any], kind: str, value: Any) -> bool:
        """Reduce as much as the word requires, then shift it. Return False if the word isn't
        allowed.
        """
        actions = self._actions
        while True:
            top = states[-1]
            action: Any = actions[top].get(kind)
            if action.__class__ is int:
                states.append(action)
                values.append(value)
                return True
            if action.__class__ is dict:
                below = states[-2]
                run = action.get(below)
                if run is None:
                    run = action[below] = self._run(below, top, kind)
                states[-1], step = run
                if step is not None:
                    values[-1] = step(values[-1])
            elif action is None:
                return False
            else:
                self._reduce(states, values, action)
            if kind == END and states[-1] == self._tables.end:
                return True

    def _reduce(self, states: list[int], values: list[Any], action: Any) -> None:
        size, origin, callback = action
        del states[-size:]
        reduced = callback(values[-size:])
        values[-size:] = [reduced]
        states.append(self._actions[states[-1]][origin])  # type: ignore[arg-type]  # where to go on is a state
