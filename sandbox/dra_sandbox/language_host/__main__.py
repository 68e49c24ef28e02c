"""`pulumi-language-python`: serve the language host. The first argument is the address of the
engine.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dra_sandbox.engine_protocol import import_protocol_alone

if TYPE_CHECKING:
    import grpc


def main() -> None:
    """Serve until the engine stops this process."""
    import_protocol_alone()
    from pulumi.runtime.proto import language_pb2_grpc

    from dra_sandbox.language_host.host import LanguageHost
    from dra_sandbox.plugin_server import serve

    # The engine also passes options with a single hyphen, such as -root. The requests contain the
    # same information.
    addresses = [word for word in sys.argv[1:] if not word.startswith("-")]
    host = LanguageHost(addresses[0] if addresses else "")

    def register(server: grpc.Server) -> None:
        language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)

    serve(register)


if __name__ == "__main__":
    main()
