"""The steps of the demo."""

from ..context import Step
from .autoscaling import an_autoscaler_gets_three_of_ten, what_it_gives_back_starts_a_job
from .gang import a_gang_waits_and_starts
from .quotas import a_broken_quota_is_refused, queues_get_quotas
from .real_cards import containers_see_the_card_of_their_pod
from .refusals import each_refusal_says_why
from .reservations import groups_are_refused_reserved_or_wait
from .safeguards import nobody_opens_a_gate_and_the_numbers_are_exact
from .service import a_deployment_asks_for_more, a_deployment_runs
from .shared_cards import small_pods_share_a_card
from .web_page import the_page_shows_it

STEPS = (
    Step("An administrator gives two teams quotas per card model", queues_get_quotas),
    Step("A Deployment of 2 x NVIDIA-H200 runs; the quota is 3", a_deployment_runs),
    Step("The Deployment is edited to 4 replicas: 3 fit", a_deployment_asks_for_more),
    Step("What can never fit is refused at create, with the reason", each_refusal_says_why),
    Step("A gang waits at the gate, then starts whole", a_gang_waits_and_starts),
    Step(
        "A group that says what it will ask for is refused, reserves it, or waits",
        groups_are_refused_reserved_or_wait,
    ),
    Step("Pods share cards by memory, packed onto one after the other", small_pods_share_a_card),
    Step(
        "On a real node, each of two containers gets the card that was chosen for its pod",
        containers_see_the_card_of_their_pod,
    ),
    Step(
        "An autoscaler wants 10 replicas: it gets the 3 that fit, and is told why",
        an_autoscaler_gets_three_of_ten,
    ),
    Step("Its load falls, and a job that waits starts", what_it_gives_back_starts_a_job),
    Step("A quota that cannot be read is refused", a_broken_quota_is_refused),
    Step(
        "Nobody opens a gate by hand, and the numbers are exact",
        nobody_opens_a_gate_and_the_numbers_are_exact,
    ),
    Step("The operator's page shows the same in a browser", the_page_shows_it),
)
"""In this order: each step begins where the one before ended."""
