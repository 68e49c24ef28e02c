"""The parser's automaton: it runs the tables that lark makes of the grammar, and takes a run of reductions in one step.

A grammar with a rule for every level of precedence reduces each literal some ten times, from `literal` to `expr`, and
nothing but the topmost state changes on the way. Where such a run ends hangs on three things: the state below, the
topmost one and the kind of the next word. So it is found once and looked up from then on, with what the callbacks on
the way do made into one function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lark import Lark

_END: Final = "$END"

Callback = Callable[[list[Any]], Any]
Step = Callable[[Any], Any]
Compose = Callable[[Sequence[tuple[str, Callback]]], Step | None]
_Run = tuple[int, Step | None]
_Action = int | dict[int, _Run] | tuple[int, str, Callback]


class Word(str):
    """A word of the text: the kind of terminal that it is, and the offset where it starts."""

    __slots__ = ("position", "type")

    position: int
    type: str


class Unexpected(ValueError):
    """A word that cannot stand where it does, or a character that starts none (`word` is None then)."""

    def __init__(self, position: int, word: str | None, character: str = "") -> None:
        super().__init__(position)
        self.position, self.word, self.character = position, word, character


class Automaton:
    """Parses texts by the tables of a lark parser, whose transformer's callbacks it calls.

    `compose` makes one function of the callbacks that a run of reductions calls one after the other, given with the
    names of their rules; None stands for no change.
    """

    def __init__(self, tables: Lark, compose: Compose) -> None:
        frontend: Any = tables.parser
        table = frontend.parser._parse_table
        (self._start,) = table.start_states.values()
        (self._end,) = table.end_states.values()
        self._compose = compose
        self._callbacks: dict[Any, Callback] = frontend.parser.parser_conf.callbacks
        self._rules: dict[int, dict[str, Any]] = {
            state: {kind: rule for kind, (_, rule) in actions.items() if not isinstance(rule, int)}
            for state, actions in table.states.items()
        }
        self._actions: list[dict[str, _Action]] = [  # by str alone: lark's own texts are slower keys
            {str(kind): self._action(target) for kind, (_, target) in table.states[state].items()}
            for state in range(len(table.states))
        ]
        self._ignored = frozenset(tables.ignore_tokens)
        used: list[Any] = [symbol for rule in tables.rules for symbol in rule.expansion]
        self._kept = frozenset(symbol.name for symbol in used if symbol.is_term and not symbol.filter_out)
        terminals = sorted(
            tables.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
        )
        self._word = re.compile("|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in terminals)).match

    def _action(self, target: Any) -> _Action:
        """A state to shift to, the known runs by the state below, or a reduction of several words."""
        if isinstance(target, int):
            return target
        if len(target.expansion) == 1:
            return {}
        return len(target.expansion), str(target.origin.name), self._callbacks[target]

    def _run(self, below: int, top: int, kind: str) -> _Run:
        """Where the run of reductions of one value ends that starts in a state before a kind of word."""
        callbacks: list[tuple[str, Callback]] = []
        while not (kind == _END and top == self._end):
            rule = self._rules[top].get(kind)
            if rule is None or len(rule.expansion) != 1:
                break
            callbacks.append((rule.alias or rule.origin.name, self._callbacks[rule]))
            after = self._actions[below][rule.origin.name]
            assert isinstance(after, int)
            top = after
        return top, self._compose(callbacks)

    def parse(self, text: str) -> Any:
        """What the callbacks make of the text. Raises `Unexpected`, and whatever they raise."""
        states: list[int] = [self._start]
        values: list[Any] = []
        offset = last = 0
        while offset < len(text):
            match = self._word(text, offset)
            if match is None:
                raise Unexpected(offset, None, text[offset])
            kind = match.lastgroup
            assert kind is not None
            if kind not in self._ignored:
                value: Any = None
                if kind in self._kept:
                    value = Word(match[0])
                    value.type, value.position = kind, offset
                if not self._shift(states, values, kind, value):
                    raise Unexpected(offset, match[0])
                last = offset
            offset = match.end()
        if not self._shift(states, values, _END, None):
            raise Unexpected(last, "<EOF>")
        return values[-1]

    def _shift(self, states: list[int], values: list[Any], kind: str, value: Any) -> bool:
        """Reduces as much as the word asks for, then takes it in; false where it cannot stand."""
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
            if kind == _END and states[-1] == self._end:
                return True

    def _reduce(self, states: list[int], values: list[Any], action: Any) -> None:
        size, origin, callback = action
        del states[-size:]
        reduced = callback(values[-size:])
        values[-size:] = [reduced]
        states.append(self._actions[states[-1]][origin])  # type: ignore[arg-type]  # where to go on is a state
