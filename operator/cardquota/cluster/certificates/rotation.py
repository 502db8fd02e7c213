"""How the CA and the serving certificate are changed without a failed review. Pure.

The state is what the Secret holds. Every step is one write under its revision: whichever replica
comes first takes it, and after a crash any other replica can continue from there.

1. *Introduce.* A next CA is put in `ca.crt` beside the one in use. No replica serves under it yet.
2. *Serve.* Once every webhook's caBundle was seen to contain the next CA for a while (how long, and
   why: `certificate_manager`), the serving certificate is the next CA's. The key of the old CA is
   stored nowhere any more, so it can sign nothing new. An API server that trusts both CAs accepts
   every replica.
3. *Drop.* The old CA leaves `ca.crt` when the last certificate that it signed has expired.

Why not sooner: replicas read the Secret every few seconds, but a replica that cannot reach the API
server, or is stalled, does not, and the API server may still reach it. No count of replicas and no
waiting time makes that safe. But an expired certificate is accepted nowhere, so from then on the
old CA serves no purpose. Until then it costs a kilobyte in the bundle.
That end is known because `old-tls.crt` keeps the certificate (not the key) that was left in step
2. Of one CA it is the last to expire, as each certificate lives as long as the one before.

A serving certificate alone is renewed under the same CA: a client that trusts the old one trusts
the new one, in whatever order replicas switch to it.

If the Secret is gone or unreadable, all is made again by the same three steps, beginning with what
the replica that notices it still serves. Only if nothing valid is left anywhere, there is nothing
to wait for: then a new certificate from a new CA is in force at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from cryptography import x509

from .certificates import NO_PAIR, KeyPair, can_sign, make_authority, make_serving, why_unusable
from .pem import holds_key, read_certificates, to_pem, trusted_through


@dataclass(frozen=True, slots=True)
class Holding:
    """What the Secret holds. All PEM. Its text form contains no key."""

    serving: KeyPair = NO_PAIR
    """`tls.crt`, `tls.key`."""
    bundle: bytes = b""
    """`ca.crt`: all CAs that are to be trusted."""
    authority_key: bytes = field(default=b"", repr=False)
    """`ca.key`: the key of the CA in the bundle that signs; empty if others sign."""
    next: KeyPair = NO_PAIR
    """`next-ca.crt`, `next-ca.key`: the CA that will sign, while it is being published."""
    left: bytes = b""
    """`old-tls.crt`: certificates that a replica may still serve under a CA no longer in use."""

    @property
    def authority(self) -> KeyPair | None:
        """The CA that signs, if its key is here."""
        for one in read_certificates(self.bundle):
            pair = KeyPair(to_pem([one]), self.authority_key)
            if can_sign(pair):
                return pair
        return None


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How long certificates live, and how long before the end they are replaced."""

    serving: timedelta = timedelta(days=90)
    """Also the longest time that an unused CA stays in the bundle."""
    authority: timedelta = timedelta(days=3650)
    margin: timedelta = timedelta(days=30)
    """Time to notice and repair what prevents a replacement."""


class RotationStep(NamedTuple):
    """The next state, and its purpose in words for the log."""

    holding: Holding
    what: str


def next_step(
    held: Holding,
    served: Holding | None,
    names: Sequence[str],
    *,
    now: datetime,
    lifetimes: Lifetimes,
    is_trusted: Callable[[x509.Certificate], bool],
) -> RotationStep | None:
    """What is to be written now; None if nothing.

    `served`: what this replica serves, from an earlier look. `is_trusted`: whether every API server
    has had the time to learn of this CA.
    """
    flaw = why_unusable(held.serving, held.bundle, (), now=now)
    if flaw:
        return _repaired(held, served, names, now, lifetimes, flaw)
    if _is_usable(held.next, held.bundle, now):
        if not is_trusted(read_certificates(held.next.cert_pem)[0]):
            return None
        what = "the next CA is known everywhere: a serving certificate from it"
        return RotationStep(_switched(held, names, now, lifetimes), what)
    authority = held.authority
    if authority is None or _end(authority) < now + lifetimes.serving + lifetimes.margin:
        why = f"is valid until {_end(authority)}" if authority else "cannot sign, without its key"
        return RotationStep(_introduced(held, now, lifetimes), f"the CA {why}: a next CA beside it")
    flaw = why_unusable(held.serving, held.bundle, names, now=now, margin=lifetimes.margin)
    if flaw:
        serving = make_serving(names, authority, now=now, until=now + lifetimes.serving)
        return RotationStep(
            replace(held, serving=serving), f"a new serving certificate, for {flaw}"
        )
    return _dropped(held, now)


def _repaired(
    held: Holding,
    served: Holding | None,
    names: Sequence[str],
    now: datetime,
    lifetimes: Lifetimes,
    flaw: str,
) -> RotationStep:
    """The next step if there is no usable serving certificate."""
    if served and not why_unusable(served.serving, served.bundle, (), now=now):
        # No CA key is restored: whoever deletes the Secret wants new keys.
        kept = Holding(served.serving, served.bundle)
        return RotationStep(
            _introduced(kept, now, lifetimes), f"what is served, and a next CA, for {flaw}"
        )
    if _is_usable(held.next, held.bundle, now):
        what = f"a serving certificate from the next CA at once, for {flaw}"
        return RotationStep(_switched(held, names, now, lifetimes), what)
    authority = held.authority
    if authority is None or _end(authority) < now + lifetimes.margin:
        authority = make_authority(now=now, until=now + lifetimes.authority)
        held = replace(
            held,
            bundle=authority.cert_pem + to_pem(_valid(held.bundle, now)),
            authority_key=authority.key_pem,
            next=NO_PAIR,
            left=_left(held),
        )
    serving = make_serving(names, authority, now=now, until=now + lifetimes.serving)
    return RotationStep(replace(held, serving=serving), f"a new serving certificate, for {flaw}")


def _introduced(held: Holding, now: datetime, lifetimes: Lifetimes) -> Holding:
    following = make_authority(now=now, until=now + lifetimes.authority)
    bundle = to_pem(_valid(held.bundle, now)) + following.cert_pem
    return replace(held, bundle=bundle, next=following)


def _switched(held: Holding, names: Sequence[str], now: datetime, lifetimes: Lifetimes) -> Holding:
    following = read_certificates(held.next.cert_pem)
    others = [one for one in _valid(held.bundle, now) if one not in following]
    return Holding(
        make_serving(names, held.next, now=now, until=now + lifetimes.serving),
        to_pem([*following, *others]),
        held.next.key_pem,
        left=_left(held),
    )


def _dropped(held: Holding, now: datetime) -> RotationStep | None:
    chain = read_certificates(held.serving.cert_pem)
    bundle = read_certificates(held.bundle)
    left = read_certificates(held.left)
    still = [one for one in left if one.not_valid_after_utc > now]
    needed = [
        one
        for one in bundle
        if trusted_through([*chain, *still], [one]) or holds_key(one, held.authority_key)
    ]
    if len(needed) == len(bundle) and len(still) == len(left):
        return None
    what = "what an old CA had signed has ended: it is dropped"
    return RotationStep(replace(held, bundle=to_pem(needed), left=to_pem(still)), what)


def _left(held: Holding) -> bytes:
    """What replicas may continue to serve besides the new one."""
    chain = read_certificates(held.serving.cert_pem)
    return to_pem([*read_certificates(held.left), *chain[:1]])


def _valid(bundle: bytes, now: datetime) -> list[x509.Certificate]:
    return [one for one in read_certificates(bundle) if one.not_valid_after_utc > now]


def _is_usable(following: KeyPair, bundle: bytes, now: datetime) -> bool:
    found = read_certificates(following.cert_pem)
    return can_sign(following) and found[0] in _valid(bundle, now)


def _end(authority: KeyPair) -> datetime:
    return read_certificates(authority.cert_pem)[0].not_valid_after_utc
