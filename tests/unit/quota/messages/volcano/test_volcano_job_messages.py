"""Sentences about Jobs of Volcano, as far as no judgement writes them (V4)."""

from cardquota.quota.messages import workload_messages as m


def test_v4_of_what_cannot_be_read_nothing_is_said_but_why() -> None:
    text = m.job_not_read("expected an object" + "x" * 10_000)
    assert text.startswith("the Job cannot be read (expected an object")
    assert len(text) < 300
    assert m.job_not_looked_at("it has <300> tasks, at most <256> are read") == (
        "it has <300> tasks, at most <256> are read; its pods are not checked now, each is "
        "checked when it is created"
    )
