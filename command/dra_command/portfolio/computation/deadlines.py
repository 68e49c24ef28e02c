"""A deadline for work in any thread."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LOOKS = 0.1  # seconds between two looks at what is due
_lock = threading.Lock()
_due: dict[int, float] = {}  # by thread
_watcher: threading.Thread | None = None


class TooLong(Exception):
    """The time is up."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLong in this thread when what is inside takes longer, some tenths of a second after
    that at most.

    It comes at the next step of Python code. One deadline at a time for each thread.
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
    """Let an exception that was raised at the last moment come here, and not later."""
