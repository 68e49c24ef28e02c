"""The resources of a simulated cloud, independent of the engine's state.

Several providers of one engine, and tests that act as an autoscaler, share them through a file.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dra_sandbox.clouds.wire_values import Values

VARIABLE = "DRA_SANDBOX_CLOUD"
"""Environment variable with the path of the file. Without it, a provider keeps its resources in
memory.
"""

_Kinds = dict[str, dict[str, Values]]  # type token → identifier → properties


class Memory:
    """Resources by type and identifier."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._own: _Kinds = {}

    @classmethod
    def of_environment(cls) -> Memory:
        """Return a memory that uses the file in the environment variable.

        If the variable isn't set, the memory isn't stored in a file.
        """
        named = os.environ.get(VARIABLE)
        return cls(Path(named) if named else None)

    def all(self, token: str) -> Mapping[str, Values]:
        """Return the resources of a type, by identifier."""
        with self._held() as kinds:
            return dict(kinds.get(token, {}))

    def get(self, token: str, identifier: str) -> Values | None:
        """Return the properties of a resource, or None if it doesn't exist."""
        return self.all(token).get(identifier)

    def put(self, token: str, identifier: str, properties: Values) -> None:
        """Store the current properties of a resource."""
        with self._held() as kinds:
            kinds.setdefault(token, {})[identifier] = properties

    def drop(self, token: str, identifier: str) -> None:
        """Remove a resource."""
        with self._held() as kinds:
            kinds.get(token, {}).pop(identifier, None)

    @contextmanager
    def _held(self) -> Generator[_Kinds, None, None]:
        """Hold an exclusive lock, and yield all resources, which can be read and changed."""
        if self._file is None:
            yield self._own
            return
        with self._file.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            before = file.read()
            kinds: _Kinds = json.loads(before or "{}")
            yield kinds
            after = json.dumps(kinds)
            if after != before:
                file.truncate(0)
                file.write(after)
                file.flush()
