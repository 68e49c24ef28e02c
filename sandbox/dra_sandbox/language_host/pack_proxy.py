"""A proxy between the engine and a policy pack.

The engine starts a pack before it sends the stack (`ConfigureStack`), but the pack's process reads
project, stack, and configuration from its environment at start. Therefore, the engine gets the port
of this proxy. The first call that needs an answer starts the pack, and the proxy forwards every
call as bytes.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures

import grpc
from pulumi.runtime.proto import analyzer_pb2

from dra_sandbox.plugin_server import CHANNEL_OPTIONS

_SERVICE = "/pulumirpc.Analyzer/"


class PackProxy(grpc.GenericRpcHandler):
    """Proxy of one pack on `port`. `command` starts the pack in `folder`, with `environment` and
    the variables of the stack.
    """

    def __init__(self, command: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        self._command = list(command)
        self._folder = folder
        self._environment = dict(environment)
        self._starting = threading.Lock()
        self._pack: subprocess.Popen[bytes] | None = None
        self._channel: grpc.Channel | None = None
        self._server = grpc.server(
            futures.ThreadPoolExecutor(max_workers=8), handlers=[self], options=CHANNEL_OPTIONS
        )
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        method = handler_call_details.method
        # Without a response to Handshake, the engine uses the calls that every pack supports.
        if not method.startswith(_SERVICE) or method == f"{_SERVICE}Handshake":
            return None
        return grpc.unary_unary_rpc_method_handler(self._forward_to(method))

    def stop(self) -> None:
        """Stop the pack and the proxy."""
        self._server.stop(grace=0)
        if self._channel is not None:
            self._channel.close()
        if self._pack is not None:
            self._pack.terminate()
            self._pack.wait()

    def _forward_to(self, method: str) -> Callable[[bytes, grpc.ServicerContext], bytes]:
        def forward(request: bytes, context: grpc.ServicerContext) -> bytes:
            try:
                call = self._connect(method, request).unary_unary(method)
                answer: bytes = call(request, wait_for_ready=True)
                return answer
            except grpc.RpcError as error:
                context.abort(error.code(), error.details() or "")
            except PackFailed as error:
                context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
            raise AssertionError("abort does not return")

        return forward

    def _connect(self, method: str, request: bytes) -> grpc.Channel:
        """Return the channel to the pack, and start the pack if it isn't running yet."""
        with self._starting:
            if self._channel is None:
                if method == f"{_SERVICE}ConfigureStack":
                    self._environment |= _stack_environment(request)
                self._channel = self._start()
            return self._channel

    def _start(self) -> grpc.Channel:
        self._pack = subprocess.Popen(
            self._command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        assert self._pack.stdout is not None
        first = self._pack.stdout.readline().strip()
        if not first.isdigit():
            raise PackFailed(
                f"the policy pack in {self._folder} exited before it was ready; see the "
                "output above for the reason"
            )
        threading.Thread(target=_pass_on, args=(self._pack,), daemon=True).start()
        return grpc.insecure_channel(f"127.0.0.1:{int(first)}", options=CHANNEL_OPTIONS)


class PackFailed(Exception):
    """The pack's process didn't start."""


def _pass_on(pack: subprocess.Popen[bytes]) -> None:
    """Forward the output of the pack.

    If the output weren't read, the pack would block when the pipe is full.
    """
    assert pack.stdout is not None
    with pack.stdout:
        for line in pack.stdout:
            print(line.decode(errors="replace"), end="", flush=True)


def _stack_environment(request: bytes) -> dict[str, str]:
    """Return the variables that the pack reads at start
    (pulumi:sdk/python/lib/pulumi/policy/__main__.py@v3.272.0).
    """
    stack = analyzer_pb2.AnalyzerStackConfigureRequest.FromString(request)
    return {
        "PULUMI_PROJECT": stack.project,
        "PULUMI_STACK": stack.stack,
        "PULUMI_ORGANIZATION": stack.organization,
        "PULUMI_DRY_RUN": "true" if stack.dry_run else "false",
        "PULUMI_CONFIG": json.dumps(dict(stack.config)),
        "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(stack.config_secret_keys)),
    }
