"""Rules for SQS queues, and for the EventBridge rules that send to them.

Sources: SQS API reference, SetQueueAttributes; EventBridge API reference, PutRule and PutTargets.
"""

from __future__ import annotations

import json

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values, is_unknown

QUEUE, RULE = "aws:sqs/queue:Queue", "aws:cloudwatch/eventRule:EventRule"
_KEPT_SECONDS = range(60, 1_209_601)


def is_kept_for_a_time(inputs: Values) -> str | None:
    """Require a message retention from one minute to two weeks."""
    kept = inputs.get("messageRetentionSeconds")
    if kept is None or is_unknown(kept) or int(kept) in _KEPT_SECONDS:
        return None
    return "expected message_retention_seconds to be in the range (60 - 1209600), got " + str(
        int(kept)
    )


def policy_is_json(inputs: Values) -> str | None:
    """Require a policy that is a JSON document with statements."""
    policy = inputs.get("policy")
    if not policy or is_unknown(policy):
        return None
    try:
        document = json.loads(policy)
    except ValueError:
        return '"policy" contains an invalid JSON policy'
    has_statements = isinstance(document, dict) and document.get("Statement")
    return None if has_statements else "Invalid value for the parameter Policy."


def is_there(request: CloudRequest) -> str | None:
    """Require that the queue of a policy exists."""
    if request.before is not None or request.inputs is None:
        return None
    url = request.inputs["queueUrl"]
    known = request.cloud.all(QUEUE)
    return (
        None
        if url in known
        else "AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist."
    )


def rule_has_trigger(inputs: Values) -> str | None:
    """Require a rule with an event pattern or a schedule. A pattern is a JSON object of lists."""
    pattern = inputs.get("eventPattern")
    if not pattern and not inputs.get("scheduleExpression"):
        return "one of `event_pattern,schedule_expression` must be specified"
    if not pattern or is_unknown(pattern):
        return None
    try:
        fields = json.loads(pattern)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or not all(
        isinstance(value, (list, dict)) for value in fields.values()
    ):
        return "InvalidEventPatternException: Event pattern is not valid."
    return None


def is_of_a_rule(request: CloudRequest) -> str | None:
    """Require that the rule of a target exists."""
    if request.before is not None or request.inputs is None:
        return None
    rule = request.inputs["rule"]
    if any(each.get("name") == rule for each in request.cloud.all(RULE).values()):
        return None
    return f"ResourceNotFoundException: Rule {rule} does not exist on EventBus default."
