"""How long Pulumi waits for a change of a pool, which takes as long as its nodes take one after the
other.

Providers stop waiting after an hour or two by themselves, and `up` fails while the cloud goes on;
who reported that is said where the simulated clouds do the same.
"""

import pulumi

_LEAST_MINUTES = 120
_NODE_MINUTES = 10  # for a new node that joins, beside what its predecessor's pods take to leave


def waiting(nodes: int, at_once: int, leaving_minutes: int) -> pulumi.CustomTimeouts:
    """Return how long a change may take in which so many nodes are replaced, some of them at once.

    `leaving_minutes` is how long the cloud waits for the pods of a node at most.
    """
    steps = -(-nodes // max(1, at_once))
    return pulumi.CustomTimeouts(
        update=f"{max(_LEAST_MINUTES, steps * (leaving_minutes + _NODE_MINUTES))}m"
    )
