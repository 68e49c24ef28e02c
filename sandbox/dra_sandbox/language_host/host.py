"""The service `pulumirpc.LanguageRuntime`, which starts Python programs, component packages, and
policy packs.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import grpc
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from dra_sandbox.language_host.pack_proxy import PackProxy
from dra_sandbox.language_host.runtime_options import NoSuchEnvironment, interpreter

_RUNNER = Path(__file__).with_name("runner.py")
_SHOWN = 32


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Language host that runs programs in the interpreter of their project file."""

    def __init__(self, engine_address: str) -> None:
        self._engine = engine_address

    def Handshake(
        self, request: language_pb2.LanguageHandshakeRequest, context: grpc.ServicerContext
    ) -> language_pb2.LanguageHandshakeResponse:
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(
        self, request: object, context: grpc.ServicerContext
    ) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=importlib.metadata.version("pulumi"))

    def GetRequiredPackages(
        self, request: language_pb2.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> language_pb2.GetRequiredPackagesResponse:
        # The simulated providers are already installed, so nothing must be downloaded.
        return language_pb2.GetRequiredPackagesResponse()

    def InstallDependencies(
        self, request: language_pb2.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.InstallDependenciesResponse]:
        # The bootstrap creates the environment from the lock file.
        return iter(())

    def Run(
        self, request: language_pb2.RunRequest, context: grpc.ServicerContext
    ) -> language_pb2.RunResponse:
        """Run a program to its end. It writes to this process's output, which the engine shows to
        the user.
        """
        try:
            command = self.program(request)
        except NoSuchEnvironment as error:
            return language_pb2.RunResponse(error=str(error))
        environment = {
            **os.environ,
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
            **self.program_environment(request),
        }
        program = subprocess.Popen(
            [*command, *request.args], cwd=request.pwd or None, env=environment
        )
        _end_with_call(program, context)
        status = program.wait()
        if status == 0:
            return language_pb2.RunResponse()
        if status == _SHOWN:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"program exited with status {status}")

    def program(self, request: language_pb2.RunRequest) -> list[str]:
        """Return the command that runs the program. Raises NoSuchEnvironment."""
        python = interpreter(request.info.options, request.info.program_directory)
        options = {
            "monitor": request.monitor_address,
            "engine": self._engine,
            "project": request.project,
            "root_directory": request.info.root_directory,
            "stack": request.stack,
            "pwd": request.pwd or request.info.program_directory,
            "dry_run": "true" if request.dryRun else "false",
            "parallel": str(request.parallel),
            "organization": request.organization,
        }
        entry = os.path.join(request.info.program_directory, request.info.entry_point)
        return [
            python,
            "-u",
            str(_RUNNER),
            *(f"--{name}={value}" for name, value in options.items()),
            entry,
        ]

    def program_environment(self, request: language_pb2.RunRequest) -> dict[str, str]:
        """Return the program's environment variables, except for the configuration."""
        return {}

    def RunPlugin(
        self, request: language_pb2.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.RunPluginResponse]:
        """Start a policy pack, a component package, or a provider, and stream its output."""
        try:
            default = "" if request.kind == "analyzer" else "venv"
            python = interpreter(
                request.info.options, request.info.program_directory, default=default
            )
        except NoSuchEnvironment as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        environment = {**os.environ, **dict(entry.split("=", 1) for entry in request.env)}
        if request.kind == "analyzer":
            engine = request.args[0] if request.args else self._engine
            yield from self._run_pack(
                python, request.info.program_directory, engine, environment, context
            )
            return
        command = [python, "-u", request.info.program_directory, *request.args]
        yield from _stream(command, request.pwd, environment, context)

    def _run_pack(
        self,
        python: str,
        folder: str,
        engine: str,
        environment: dict[str, str],
        context: grpc.ServicerContext,
    ) -> Iterator[language_pb2.RunPluginResponse]:
        """Serve the pack through a proxy until the engine ends the call."""
        proxy = PackProxy(
            [python, "-u", "-m", "pulumi.policy", engine, folder], folder, environment
        )
        ended = threading.Event()
        if not context.add_callback(ended.set):
            return
        try:
            yield language_pb2.RunPluginResponse(stdout=f"{proxy.port}\n".encode())
            ended.wait()
        finally:
            proxy.stop()


def _end_with_call(process: subprocess.Popen[bytes], context: grpc.ServicerContext) -> None:
    """Stop `process` when the engine cancels the call, for example after an interrupt."""

    def stop() -> None:
        if process.poll() is None:
            process.terminate()

    if not context.add_callback(stop):
        stop()


def _stream(
    command: Sequence[str], folder: str, environment: dict[str, str], context: grpc.ServicerContext
) -> Iterator[language_pb2.RunPluginResponse]:
    """Yield the output of `command` as it's written, then its exit status."""
    process = subprocess.Popen(
        command,
        cwd=folder or None,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _end_with_call(process, context)
    assert process.stdout is not None
    assert process.stderr is not None
    answers: queue.Queue[language_pb2.RunPluginResponse | None] = queue.Queue()

    def forward(
        stream: IO[bytes], answer: Callable[[bytes], language_pb2.RunPluginResponse]
    ) -> None:
        with stream:
            for line in stream:
                answers.put(answer(line))
        answers.put(None)

    for stream, answer in (
        (process.stdout, lambda line: language_pb2.RunPluginResponse(stdout=line)),
        (process.stderr, lambda line: language_pb2.RunPluginResponse(stderr=line)),
    ):
        threading.Thread(target=forward, args=(stream, answer), daemon=True).start()
    for _ in range(2):
        while (response := answers.get()) is not None:
            yield response
    yield language_pb2.RunPluginResponse(exitcode=process.wait())
