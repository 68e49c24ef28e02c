"""Provide the components to programs in other languages. `pulumi package add` on this folder
generates an SDK from them.
"""

import sys

from pulumi.provider import main

from pulumi_dra.component_host import Components

if __name__ == "__main__":
    main(Components(), sys.argv[1:])
