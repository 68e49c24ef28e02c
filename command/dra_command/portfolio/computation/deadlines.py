"""A deadline for work in any thread."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOOKS = 0.1  # seconds between two checks of deadlines
_lock = threading.Lock()
_due: dict[int, float] = {}  # by thread
_watcher: threading.Thread | None = None


class TooLong(Exception):
    """The time limit is exceeded."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLong in this thread if the block takes longer than the limit. The exception is
    raised at most a few tenths of a second after the limit.

    It occurs at the next step of Python code. Each thread can have only one deadline at a time.
    """
    thread = threading.get_ident()
    with _lock:
        _due[thread] = time.monotonic() + seconds
        _start_watcher()
    try:
        yield
    finally:
        with _lock:
            _due.pop(thread, None)
        _step()


def _start_watcher() -> None:
    global _watcher
    if _watcher is None or not _watcher.is_alive():
        _watcher = threading.Thread(target=_watch, name="deadlines", daemon=True)
        _watcher.start()


def _watch() -> None:
    while True:
        time.sleep(_LOOKS)
        now = time.monotonic()
        with _lock:
            for thread in [thread for thread, due in _due.items() if now >= due]:
                del _due[thread]
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(TooLong)
                )


def _step() -> None:
    """Make sure that an exception that was raised at the last moment occurs here, and not later."""
