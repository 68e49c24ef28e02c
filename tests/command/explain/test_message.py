"""`explain --message`: messages of other software about pods with claims, and the next steps."""

from __future__ import annotations

from command_project import Project

NO_FIT = "0/12 nodes are available: 12 cannot allocate all claims. still not schedulable"


def test_message_is_explained_with_the_next_step(project: Project) -> None:
    done = project.run("explain", "--message", NO_FIT)
    assert (done.status, done.err) == (0, "")
    assert "12 cannot allocate all claims  (scheduler)" in done.out
    assert (
        "→ Find the claim and the selector term that fail in each pool: `pulumi-dra explain PATH"
        in done.out
    )


def test_message_is_explained_in_json(project: Project) -> None:
    (row,) = project.run("explain", "--message", NO_FIT, "--format", "json").json["messages"]
    assert (row["id"], row["where"], row["nodes"]) == ("no-fit", "scheduler", 12)


def test_events_are_read_from_standard_input(project: Project) -> None:
    events = f"Warning FailedScheduling {NO_FIT}\nPrepare: unknown GPU sharing strategy: MPS"
    done = project.run("explain", "--message", "-", stdin=events)
    assert [line.split("  (")[1] for line in done.out.splitlines() if "  (" in line] == [
        "scheduler)",
        "kubelet)",
    ]


def test_unknown_message_is_reported_as_unknown(project: Project) -> None:
    done = project.run("explain", "--message", "OOMKilled")
    assert done.status == 3
    assert "Unknown message" in done.out
    assert "pulumi-dra explain PATH --fleet FILE --pod NAMESPACE/POD" in done.out
    assert "https://kubernetes.io/docs/tasks/debug/" in done.out


def test_unknown_message_lists_similar_messages(project: Project) -> None:
    done = project.run("explain", "--message", "12 claims could not be allocated to nodes")
    assert done.status == 3
    assert "similar: " in done.out


def test_message_cannot_be_combined_with_other_options(project: Project) -> None:
    assert "--message is empty" in project.run("explain", "--message", " ").err
    done = project.run("explain", "--message", NO_FIT, "--claim", "default/gpu")
    assert (done.status, "not allowed with argument" in done.err) == (2, True)
    assert (
        "`explain` needs a claim, pod, finding, pool, or message; use --claim or --pod "
        "NAMESPACE/NAME" in project.run("explain").err
    )


EVENTS = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: team}
  spec: {containers: [{name: c, image: registry.example/c:1}]}
  status:
    conditions:
    - {type: PodScheduled, status: "False", message: "0/4 nodes are available: 4 cannot allocate all claims."}
- apiVersion: v1
  kind: Event
  metadata: {name: p.1, namespace: team}
  involvedObject: {kind: Pod, name: p, namespace: team}
  reason: FailedResourceClaimCreation
  message: 'PodResourceClaim gpu: failed to create ResourceClaim: resourceclaimtemplate.resource.k8s.io "one" not found'
- apiVersion: v1
  kind: Event
  metadata: {name: q.1, namespace: team}
  involvedObject: {kind: Pod, name: q, namespace: team}
  message: timed out trying to allocate devices
"""


def test_events_and_conditions_of_a_pod_are_explained(project: Project) -> None:
    project.write("cluster.yaml", EVENTS)
    done = project.run(
        "explain", "--events", "team/p", "--observed", "cluster.yaml", "--format", "json"
    )
    assert (done.status, [each["id"] for each in done.json["messages"]]) == (
        0,
        ["claim-creation", "no-fit"],
    )
    assert project.run(
        "explain", "--events", "team/q", "--observed", "cluster.yaml"
    ).out.startswith("timed out")


def test_pod_without_events_gets_suggestions(project: Project) -> None:
    project.write("cluster.yaml", EVENTS)
    done = project.run("explain", "--events", "team/r", "--observed", "cluster.yaml")
    assert (done.status, "use pod team/p" in done.err) == (2, True)
    assert "needs a snapshot" in project.run("explain", "--events", "team/r").err


def test_unknown_reasons_are_listed(project: Project) -> None:
    message = (
        "0/3 nodes are available: 1 Insufficient cpu, 2 cannot allocate all claims. preemption: "
        "0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    done = project.run("explain", "--message", message)
    assert done.status == 0
    assert done.out.endswith("\nnot among the known messages: 1 Insufficient cpu\n")
    assert "not among" not in project.run("explain", "--message", NO_FIT).out
