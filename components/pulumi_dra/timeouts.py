"""Timeouts for changes of a pool, which replace its nodes one after another.

Providers stop waiting after an hour or two by default, so `up` fails while the cloud continues. The
simulated clouds' code cites reports of this.
"""

import pulumi

_LEAST_MINUTES = 120
# minutes for a new node to join, in addition to the time that the old node's pods need to terminate
_NODE_MINUTES = 10


def waiting(nodes: int, at_once: int, leaving_minutes: int) -> pulumi.CustomTimeouts:
    """Return the timeout of a change that replaces this number of nodes, several of them at once.

    `leaving_minutes` is the cloud's maximum wait for a node's pods.
    """
    steps = -(-nodes // max(1, at_once))
    return pulumi.CustomTimeouts(
        update=f"{max(_LEAST_MINUTES, steps * (leaving_minutes + _NODE_MINUTES))}m"
    )
