"""An end to work that takes too long, in whatever thread it runs."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(Exception):
    """The time is up."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLong in this thread when what is inside takes longer; at the next step of Python code."""
    thread, lock, done = threading.get_ident(), threading.Lock(), False

    def ring() -> None:
        with lock:
            if not done:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TooLong))

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            done = True
        timer.cancel()
        _step()


def _step() -> None:
    """Let an exception that was raised at the last moment come here, and not later."""
