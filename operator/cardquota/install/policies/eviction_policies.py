"""What an Eviction of the operator must name: it ends a pod, so a leader whose term is over may not
send it. Evictions of all others, as those of `kubectl drain`, are none of our business.
"""

from ...quota.vocabulary import TERM
from ...settings import Settings
from ..cel import CURRENT_TERM, all_of, annotation, of_term, user_is
from .admission_policy import TERM_VARIABLES, AdmissionPolicy, RequestRule, term_check


def eviction_term(settings: Settings) -> AdmissionPolicy:
    """The operator evicts only in the current term (L5). Checks only its own requests: who else
    evicts costs one comparison of names.
    """
    return AdmissionPolicy(
        "eviction-term",
        RequestRule("pods/eviction", ("CREATE",)),
        # It contains the check, so that a valid Eviction costs no more than this: see `joined`.
        conditions={
            "evicted-out-of-term": all_of(
                user_is(settings.service_account_user),
                f"!({of_term(annotation('object', TERM), CURRENT_TERM)})",
            ),
        },
        variables=TERM_VARIABLES,
        checks=(
            term_check(
                settings,
                "cardquota may evict a pod",
                "'cardquota may evict pod <' + object.metadata.?name.orValue('') + '>",
                "decide anew who is evicted",
            ),
        ),
        by_term=True,
        # It is about the operator alone, and what it ends is gone in audit mode too.
        denies_in_audit=True,
    )
