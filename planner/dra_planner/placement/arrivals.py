"""A fast model of the scheduler for pods that share one pool's nodes, which checks whether all of
them find a node.

Equal nodes are one state with a count, and transitions between states are cached, so a pod needs as
many steps as there are different states of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

Scoring = Literal["spread", "pack"]
"""The scheduler's choice among suitable nodes: the emptiest node, or the node with the most
pods.
"""
_NEIGHBORS: Final = 200  # weight of InterPodAffinity, multiplied by its highest score

Vector = tuple[int, ...]


class NodeModel:
    """Nodes of one pool, and kinds of pods with their needs in a node's rows. `steps` counts the
    checked states.
    """

    def __init__(
        self, capacity: Vector, is_device: Sequence[bool], needs: Sequence[Vector]
    ) -> None:
        self.steps = 0
        self._needs = needs
        amounts = [row for row, device in enumerate(is_device) if not device and capacity[row]]
        self._weights = [(row, 100 / capacity[row] / len(amounts)) for row in amounts]
        self._free: list[Vector] = [capacity]
        self._pods = [0]
        self._used = [0.0]  # mean utilization of all amounts, in percent
        self._number = {(capacity, 0): 0}
        # by kind and state: the state after placing a pod; -1 if the pod doesn't fit, 0 if unknown
        self._after: list[list[int]] = [[0] for _ in needs]

    def places_all(self, order: Iterable[int], nodes: int, scoring: Scoring) -> bool:
        """Return whether every pod finds a node if kinds of pods arrive in this order."""
        counts = {0: nodes}
        choose = self._fullest if scoring == "pack" else self._emptiest
        for kind in order:
            self.steps += len(counts)
            chosen = choose(counts, kind)
            if chosen is None:
                return False
            after = self._after[kind][chosen]
            if counts[chosen] == 1:
                del counts[chosen]
            else:
                counts[chosen] -= 1
            counts[after] = counts.get(after, 0) + 1
        return True

    def _emptiest(self, counts: Iterable[int], kind: int) -> int | None:
        best, chosen, used, after = 101.0, None, self._used, self._after[kind]
        for state in counts:
            if used[state] < best and (after[state] or self._follow(state, kind)) > 0:
                best, chosen = used[state], state
        return chosen

    def _fullest(self, counts: Iterable[int], kind: int) -> int | None:
        after = self._after[kind]
        fitting = [state for state in counts if (after[state] or self._follow(state, kind)) > 0]
        if len(fitting) < 2:
            return fitting[0] if fitting else None
        pods, used = self._pods, self._used
        here = [pods[state] for state in fitting]
        least, most = min(here), max(here)
        weight = _NEIGHBORS / (most - least) if most > least else 0.0
        return max(fitting, key=lambda state: (pods[state] * weight - used[state], -state))

    def _follow(self, state: int, kind: int) -> int:
        """Return a node's state after adding a pod, or -1 if it doesn't fit, and cache the
        result.
        """
        free = tuple(map(int.__sub__, self._free[state], self._needs[kind]))
        if min(free) < 0:
            self._after[kind][state] = -1
            return -1
        key = free, self._pods[state] + 1
        number = self._number.get(key)
        if number is None:
            number = self._number[key] = len(self._free)
            need = self._needs[kind]
            self._free.append(free)
            self._pods.append(key[1])
            self._used.append(
                self._used[state] + sum(need[row] * weight for row, weight in self._weights)
            )
            for after in self._after:
                after.append(0)
        self._after[kind][state] = number
        return number
