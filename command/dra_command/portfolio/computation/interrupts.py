"""Ctrl-C that is not lost, wherever it comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


class Interrupts:
    """Notes Ctrl-C while in here, beside raising KeyboardInterrupt: Python drops what is raised
    while it frees objects.

    Outside the main thread, where no signal comes, it does nothing.
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
        """Do what is inside whole; Ctrl-C that has come raises KeyboardInterrupt afterwards."""
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
