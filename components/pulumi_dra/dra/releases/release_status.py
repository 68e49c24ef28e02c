"""Check that a Helm release is deployed, because a failed release looks unchanged after a
refresh.
"""

from typing import Any

import pulumi


class ReleaseFailed(pulumi.RunError):
    """The release is in the state, but Helm reports that it failed. Shown as a sentence, without a
    traceback.
    """


def require_deployed(release: str, status: Any) -> str:
    """Return the release's status. Raises ReleaseFailed unless it is deployed."""
    text = str(getattr(status, "status", None) or "deployed")
    if text != "deployed":
        raise ReleaseFailed(
            f'release "{release}" is "{text}", not deployed; see `helm status {release}`, then run '
            "`pulumi up --replace` on the release, because a plain `up` would report the release "
            "as unchanged"
        )
    return text
