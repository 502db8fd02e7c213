"""R1, R2, R5: what is said of workloads that want more replicas."""

from cardquota.quota.messages import workload_messages

SHORT = "Queue <red> has insufficient <NVIDIA-H200> quota"


def test_r1_how_many_fit() -> None:
    assert workload_messages.scale_refused(SHORT, "Deployment", "web", 10, 3) == (
        f"{SHORT}; 3 of 10 replicas of Deployment <web> fit: scale it to 3 at most, "
        "wait until some of the quota is free, or ask the queue's owner for a higher quota"
    )
    assert "; none of 1 replica of Deployment <web> fit: do not scale it up, wait" in (
        workload_messages.scale_refused(SHORT, "Deployment", "web", 1, 0)
    )


def test_r1_what_can_never_fit() -> None:
    assert workload_messages.scale_never_fits("no", "Deployment", "web") == (
        "Deployment <web> cannot have more replicas: no"
    )


def test_r2_a_part() -> None:
    assert workload_messages.scale_granted("Deployment", "web", 10, 3) == (
        "Deployment <web>: granted 3 of 10 replicas"
    )
    assert workload_messages.scale_granted_event(10, 3, SHORT) == (
        f"granted 3 of 10 replicas: {SHORT}"
    )


def test_r5_who_is_woken() -> None:
    assert workload_messages.woken("red", 2) == (
        "Queue <red> had room for 2 more pods of this workload: its controller was made to try "
        "again"
    )
