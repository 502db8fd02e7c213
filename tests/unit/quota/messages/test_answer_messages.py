"""What is said to whoever asks, and gets no answer (F1)."""

from cardquota.quota.messages import answer_messages


def test_f1_what_must_not_be_stored_is_told_how_to_be_asked() -> None:
    text = answer_messages.send_as_dry_run("queuereviews")
    assert text.startswith("queuereviews are answered and never stored")
    assert "--dry-run=server" in text


def test_f1_a_question_needs_its_spec_alone() -> None:
    text = answer_messages.question_refused("queuereviews", "it is too large")
    assert text == "this cannot be answered: it is too large; queuereviews need only their spec"


def test_who_is_not_answered_may_ask_again() -> None:
    assert answer_messages.too_many_questions().endswith("try again in a second")
    assert answer_messages.no_such_queue("q") == "Queue <q> does not exist"
