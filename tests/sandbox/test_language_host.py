"""The sandbox's language host as a process, over gRPC."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from pulumi.runtime.proto import language_pb2, language_pb2_grpc

pytest.importorskip("pulumi_policy")


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "dra_sandbox.language_host", "127.0.0.1:1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as host:
        yield host
        host.kill()


@pytest.fixture
def host(process: subprocess.Popen[str]) -> Iterator[language_pb2_grpc.LanguageRuntimeStub]:
    assert process.stdout is not None
    with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
        yield language_pb2_grpc.LanguageRuntimeStub(channel)


def program(folder: Path, **options: str) -> language_pb2.ProgramInfo:
    info = language_pb2.ProgramInfo(
        root_directory=str(folder), program_directory=str(folder), entry_point="."
    )
    info.options.update(options)
    return info


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_host_exits_silently(process: subprocess.Popen[str], how: signal.Signals) -> None:
    assert process.stdout is not None
    process.stdout.readline()

    process.send_signal(how)
    stdout, stderr = process.communicate(timeout=20)

    assert (process.returncode, stdout, stderr) == (0, "", "")


def test_the_host_exits_if_its_engine_is_killed() -> None:
    """This engine starts the host, prints the ID of its process, and is killed; then the host's
    output ends.
    """
    host = [sys.executable, "-P", "-m", "dra_sandbox.language_host", "127.0.0.1:1"]
    engine = f"import subprocess; p = subprocess.Popen({host!r}); p.wait()"
    with subprocess.Popen(
        [sys.executable, "-c", engine], stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout is not None
        assert int(started.stdout.readline()) > 0
        started.kill()
        assert started.stdout.read() == ""  # returns when no process can write any more


def test_the_host_requires_no_downloads(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    packages = host.GetRequiredPackages(
        language_pb2.GetRequiredPackagesRequest(info=program(tmp_path))
    )
    installing = list(
        host.InstallDependencies(language_pb2.InstallDependenciesRequest(info=program(tmp_path)))
    )

    assert list(packages.packages) == []
    assert installing == []


def test_a_folder_that_is_not_an_environment_is_reported(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    answer = host.Run(language_pb2.RunRequest(info=program(tmp_path, virtualenv="empty")))

    assert f"{tmp_path}/empty doesn't contain bin/python" in answer.error


def test_a_component_package_runs_without_an_environment(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    (tmp_path / "__main__.py").write_text("import sys\nprint(sys.prefix)\n")
    info = program(tmp_path, virtualenv=".venv")
    request = language_pb2.RunPluginRequest(kind="resource", info=info)

    answers = list(host.RunPlugin(request))

    assert b"".join(each.stdout for each in answers).decode().strip() == sys.prefix


def test_a_component_package_runs_in_its_own_environment(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    (tmp_path / "__main__.py").write_text("import sys\nprint(sys.prefix)\n")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True
    )
    request = language_pb2.RunPluginRequest(kind="resource", info=program(tmp_path))

    answers = list(host.RunPlugin(request))

    assert b"".join(answer.stdout for answer in answers).decode() == f"{tmp_path / 'venv'}\n"


def test_a_component_package_gets_arguments_and_output_streams(
    host: language_pb2_grpc.LanguageRuntimeStub, tmp_path: Path
) -> None:
    (tmp_path / "__main__.py").write_text(
        "import os, sys\nprint('port', sys.argv[1], os.environ['MARK'])\nprint('late', "
        "file=sys.stderr)\nsys.exit(3)\n"
    )
    request = language_pb2.RunPluginRequest(
        kind="resource",
        info=program(tmp_path, virtualenv=sys.prefix),
        args=["127.0.0.1:9"],
        env=["MARK=a=b"],
    )

    answers = list(host.RunPlugin(request))

    assert b"".join(answer.stdout for answer in answers) == b"port 127.0.0.1:9 a=b\n"
    assert b"".join(answer.stderr for answer in answers) == b"late\n"
    assert answers[-1].exitcode == 3


def test_unknown_value_and_protocol_match_the_sdk() -> None:
    """The plugins import only the protocol's classes, so they repeat the SDK's unknown value."""
    from pulumi.runtime import rpc

    from dra_sandbox.clouds.wire_values import UNKNOWN

    code = (
        "from dra_sandbox.engine_protocol import import_protocol_alone as alone; alone();"
        "from dra_sandbox.clouds.__main__ import provider; provider('aws');"
        "import sys; print('pulumi.resource' in sys.modules, 'pulumi.runtime.proto.provider_pb2' "
        "in sys.modules)"
    )
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert rpc.UNKNOWN == UNKNOWN
    assert alone.stdout.split() == ["False", "True"]
