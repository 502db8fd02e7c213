"""V7: the pods of one task that would start on several cards."""

from builders import H200, H800, a_ledger, a_pod
from cardquota.quota.amounts import Charge
from cardquota.quota.decisions.groups.mixture import Mixture, mixture_in
from cardquota.quota.pods.pod_record import PodRecord

EITHER = f"{H200}|{H800}"
Chosen = list[tuple[PodRecord, Charge]]


def chosen(*pods: tuple[str | None, str, Charge]) -> Chosen:
    """By task, the cards that are named, and what is charged."""
    found: Chosen = []
    for number, (task, cards, charge) in enumerate(pods):
        pod = (
            a_pod(f"p{number}")
            .in_queue("queue")
            .naming(cards)
            .asking_for(1)
            .in_group("gang")
            .of_task(task)
        )
        found.append((a_ledger(pod).pods[f"uid-p{number}"], charge))
    return found


def test_a_task_on_several_cards_is_one() -> None:
    pods = chosen(
        ("worker", EITHER, ((H200, 1), ("cpu", 4_000))),
        ("worker", EITHER, ((H800, 2),)),
        ("worker", EITHER, ((H800, 2),)),
        ("head", H200, ((H200, 1),)),
        ("driver", H200, ()),
    )
    assert mixture_in(pods) == Mixture("worker", ((H200, 1), (H800, 2)), choice=True)
    assert mixture_in(pods[1:]) is None
    assert mixture_in([]) is None


def test_pods_that_name_one_card_each_have_no_choice() -> None:
    """No room will ever make them one."""
    pods = chosen((None, H200, ((H200, 1),)), (None, H800, ((H800, 1),)))
    assert mixture_in(pods) == Mixture("", ((H200, 1), (H800, 1)), choice=False)


def test_there_is_a_choice_only_where_one_card_is_allowed_to_all_of_them() -> None:
    pods = chosen(
        (None, H200, ((H200, 1),)), (None, H800, ((H800, 1),)), (None, EITHER, ((H200, 1),))
    )
    found = mixture_in(pods)
    assert found is not None
    assert not found.choice
    with_choice = mixture_in([pods[1], pods[2]])
    assert with_choice is not None
    assert with_choice.choice
