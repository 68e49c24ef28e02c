"""`explain --message`: what others say of pods with claims, and what to do."""

from __future__ import annotations

from command_project import Project

NO_FIT = "0/12 nodes are available: 12 cannot allocate all claims. still not schedulable"


def test_a_message_is_explained_with_the_next_step(project: Project) -> None:
    done = project.run("explain", "--message", NO_FIT)
    assert (done.status, done.err) == (0, "")
    assert "12 cannot allocate all claims  (scheduler)" in done.out
    assert "→ See which term of which claim fails on which pool: pulumi-dra explain PATH" in done.out


def test_the_same_as_json(project: Project) -> None:
    (row,) = project.run("explain", "--message", NO_FIT, "--format", "json").json["messages"]
    assert (row["id"], row["where"], row["nodes"]) == ("no-fit", "scheduler", 12)


def test_events_are_read_from_standard_input(project: Project) -> None:
    events = f"Warning FailedScheduling {NO_FIT}\nPrepare: unknown GPU sharing strategy: MPS"
    done = project.run("explain", "--message", "-", stdin=events)
    assert [line.split("  (")[1] for line in done.out.splitlines() if "  (" in line] == ["scheduler)", "kubelet)"]


def test_a_message_that_nobody_knows_is_said_to_be_unknown(project: Project) -> None:
    done = project.run("explain", "--message", "OOMKilled")
    assert done.status == 3
    assert "No message that is known here" in done.out


def test_a_message_is_asked_alone(project: Project) -> None:
    assert "--message holds no text" in project.run("explain", "--message", " ").err
    done = project.run("explain", "--message", NO_FIT, "--claim", "default/gpu")
    assert (done.status, "not allowed with argument" in done.err) == (2, True)
    assert "one of the arguments --claim --message is required" in project.run("explain").err
