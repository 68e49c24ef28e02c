"""Tell the engine that a resource exists, but hasn't reached its wanted state."""

from __future__ import annotations

from typing import NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2, status_pb2


def abort_unfinished(
    context: grpc.ServicerContext, identifier: str, properties: Struct, reason: str
) -> NoReturn:
    """End the call with the state of the resource.

    The engine keeps this state, and retries in its next run. It reads the state from the details of
    the status (pulumi/pulumi:sdk/go/common/resource/plugin/provider_plugin.go@v3.259.0,
    `parseError`).
    """
    detail = AnyMessage()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(id=identifier, properties=properties, reasons=[reason])
    )
    code = grpc.StatusCode.UNKNOWN
    status = status_pb2.Status(code=code.value[0], message=reason, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, reason)
    raise AssertionError("abort does not return")
