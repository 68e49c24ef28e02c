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
            f'release "{release}" is "{text}", not deployed. See `helm status {release}`, and '
            "then replace the release with `pulumi up --replace`, because `pulumi up` "
            "without this option reports the release as unchanged"
        )
    return text
