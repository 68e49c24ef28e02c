"""`pulumi-resource-<cloud>`: serve one simulated provider to the engine. The first argument names
the cloud.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, cast

from dra_sandbox.clouds import packages
from dra_sandbox.engine_protocol import import_protocol_alone

if TYPE_CHECKING:
    import grpc
    from pulumi.runtime.proto import provider_pb2_grpc


def provider(cloud: str) -> provider_pb2_grpc.ResourceProviderServicer:
    """Return the simulated provider of the Pulumi package `cloud`. Raises KeyError if there is
    none.
    """
    if cloud not in packages():
        raise KeyError(cloud)
    module = import_module(f"dra_sandbox.clouds.{cloud.replace('-', '_')}.provider")
    return cast("provider_pb2_grpc.ResourceProviderServicer", module.provider())


def main() -> None:
    """Serve until the engine stops this process."""
    import_protocol_alone()
    from pulumi.runtime.proto import provider_pb2_grpc

    from dra_sandbox.plugin_server import serve

    servicer = provider(sys.argv[1])

    def register(server: grpc.Server) -> None:
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)

    serve(register)


if __name__ == "__main__":
    main()
