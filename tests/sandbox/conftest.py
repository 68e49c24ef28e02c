"""Projects for the engine to run, and the simulated providers behind a real gRPC connection."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2_grpc

from dra_sandbox.clouds.__main__ import provider
from dra_sandbox.engine import Engine

PROGRAMS = Path(__file__).parent / "programs"


class StackUnderTest:
    """A program of `programs/` in a scratch project, with one stack whose settings tests may
    change.
    """

    def __init__(self, folder: Path, program: str, settings: str) -> None:
        project = folder / "source"
        shutil.copytree(PROGRAMS / program, project)
        (project / "Pulumi.yaml").write_text(f"name: trial\n{_runtime()}stackConfigDir: stacks\n")
        self.engine = Engine(folder / "work", project)
        self.engine.stack_init("dev")
        self._file = self.engine.settings_folder / "Pulumi.dev.yaml"
        self._settings = self._file.read_text() + "config:\n" + settings
        self.at("first")

    def at(self, step: str) -> None:
        """Select one of the program's steps."""
        self._file.write_text(f"{self._settings}  trial:step: {step}\n")


def _runtime() -> str:
    return f"runtime: {{name: python, options: {{toolchain: pip, virtualenv: {sys.prefix}}}}}\n"


@pytest.fixture(scope="module")
def policy_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pack of `programs/pack`, ready to run."""
    folder = tmp_path_factory.mktemp("pack") / "pack"
    shutil.copytree(PROGRAMS / "pack", folder)
    (folder / "PulumiPolicy.yaml").write_text(_runtime())
    return folder


@pytest.fixture(scope="module")
def simulated() -> Iterator[Callable[[str], provider_pb2_grpc.ResourceProviderStub]]:
    """Start the simulated provider of a cloud in this process, and return a client of it."""
    servers: list[grpc.Server] = []
    channels: list[grpc.Channel] = []

    def start(cloud: str) -> provider_pb2_grpc.ResourceProviderStub:
        server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider(cloud), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        servers.append(server)
        channels.append(grpc.insecure_channel(f"127.0.0.1:{port}"))
        return provider_pb2_grpc.ResourceProviderStub(channels[-1])

    yield start
    for channel in channels:
        channel.close()
    for server in servers:
        server.stop(grace=0)


@pytest.fixture(scope="session")
def stack_under_test() -> type[StackUnderTest]:
    """The class StackUnderTest: call it with a folder, a program of `programs/` and its
    settings.
    """
    return StackUnderTest
