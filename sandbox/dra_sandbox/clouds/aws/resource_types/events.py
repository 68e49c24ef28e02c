"""Queues, event rules, and logs."""

from __future__ import annotations

from collections.abc import Mapping

from dra_sandbox.clouds.aws import cluster_side_effects, queues
from dra_sandbox.clouds.type_rows import TypeRow

ROWS: Mapping[str, TypeRow] = {
    "aws:cloudwatch/logGroup:LogGroup": TypeRow(
        id="{name}",
        outputs={"arn": "arn:{partition}:logs:{region}:{account}:log-group:{name}"},
        defaults={"skipDestroy": False},
        replace=("namePrefix", "logGroupClass"),
        name_limit=512,
        refusals=(cluster_side_effects.group_is_new,),
        remembered=True,
    ),
    "aws:sqs/queue:Queue": TypeRow(
        id="https://sqs.{region}.amazonaws.com/{account}/{name}",
        outputs={
            "arn": "arn:{partition}:sqs:{region}:{account}:{name}",
            "url": "https://sqs.{region}.amazonaws.com/{account}/{name}",
        },
        defaults={"maxMessageSize": 262144, "receiveWaitTimeSeconds": 0, "delaySeconds": 0},
        replace=("fifoQueue", "namePrefix"),
        name_limit=80,
        checks=(queues.is_kept_for_a_time, queues.policy_is_json),
        remembered=True,
    ),
    "aws:sqs/queuePolicy:QueuePolicy": TypeRow(
        id="{queueUrl}",
        replace=("queueUrl",),
        checks=(queues.policy_is_json,),
        refusals=(queues.is_there,),
    ),
    "aws:cloudwatch/eventRule:EventRule": TypeRow(
        id="{name}",
        outputs={"arn": "arn:{partition}:events:{region}:{account}:rule/{name}"},
        defaults={"eventBusName": "default", "forceDestroy": False},
        replace=("eventBusName", "namePrefix"),
        name_limit=64,
        checks=(queues.rule_has_trigger,),
        remembered=True,
    ),
    "aws:cloudwatch/eventTarget:EventTarget": TypeRow(
        id="{rule}-{targetId}",
        outputs={"targetId": "terraform-{digits}"},
        defaults={"eventBusName": "default", "forceDestroy": False},
        replace=("eventBusName", "rule", "targetId"),
        refusals=(queues.is_of_a_rule,),
    ),
}
