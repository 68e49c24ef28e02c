"""Ctrl-C handling that never loses an interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


class Interrupts:
    """Records Ctrl-C in this context, in addition to raising KeyboardInterrupt, because Python
    drops exceptions that are raised while it frees objects.

    Outside the main thread, which receives no signals, it does nothing.
    """

    def __init__(self) -> None:
        self._seen = self._holds = False
        self._is_ours = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._is_ours:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_ours:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run the block to its end. If Ctrl-C was pressed, raise KeyboardInterrupt afterward."""
        self._holds = True
        try:
            yield
        finally:
            self._holds = False
        if self._seen:
            raise KeyboardInterrupt

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._seen = True
        if not self._holds:
            raise KeyboardInterrupt
