"""N1: who calls by a secret of ours is answered, and nobody who calls by an older one."""

from cardquota.cluster.certificates import OVERLAP, PERIOD, READ_BY_ALL, KeyPair, PathSecrets

FIRST, SECOND = KeyPair(b"cert 1", b"key 1"), KeyPair(b"cert 2", b"key 2")
START = 1_000_000 * PERIOD


class OwnClock:
    def __init__(self) -> None:
        self.now = float(START)

    def __call__(self) -> float:
        return self.now


def replica(clock: OwnClock, *pairs: KeyPair) -> PathSecrets:
    found = PathSecrets(clock)
    for pair in pairs:
        found.learn(pair)
    return found


def test_n1_replicas_agree_without_a_word() -> None:
    clock = OwnClock()
    one, other = replica(clock, FIRST), replica(clock, FIRST)
    secret = one.wanted("")
    assert len(bytes.fromhex(secret)) == 32
    assert other.wanted("") == secret
    assert other.knows(secret)
    assert replica(clock, SECOND).wanted("") != secret
    assert not replica(clock, SECOND).knows(secret)
    for wrong in ("", secret[:-1], secret.upper(), "\udcff", "ä" * 64, "0" * 64):
        assert not one.knows(wrong)
    assert not PathSecrets(clock).knows("")


def test_n1_it_changes_with_time_and_the_last_one_is_worth_nothing_soon() -> None:
    clock = OwnClock()
    one, other = replica(clock, FIRST), replica(clock, FIRST)
    before = one.wanted("")
    clock.now += PERIOD
    after = one.wanted(before)
    assert after != before
    assert other.knows(after), "it did not have to be told"
    for each in (one, other):
        each.stored([before])
        assert each.knows(before), "an API server may call by what is stored"
        each.stored([after])
        assert each.knows(before), "or by what it has read a moment ago"
        clock.now += OVERLAP
        assert each.knows(before), "nobody knows what is stored now"
        each.stored([after])
        assert not each.knows(before)


def test_n1_what_is_stored_is_answered_whoever_wrote_it() -> None:
    clock = OwnClock()
    one = replica(clock, FIRST)
    theirs = replica(clock, SECOND).wanted("")
    one.stored([theirs, "mutate", ""])
    assert one.knows(theirs)
    assert not one.knows("mutate")
    assert not one.knows("")


def test_n1_a_new_certificate_is_called_by_once_all_have_read_it() -> None:
    clock = OwnClock()
    clock.now += READ_BY_ALL
    one, late = replica(clock, FIRST), replica(clock, FIRST)
    clock.now += READ_BY_ALL
    before = one.wanted("")
    one.learn(SECOND)
    assert one.wanted(before) == before
    assert one.wanted("") == before, "applied again meanwhile: as the others know it"
    started = replica(clock, SECOND)
    started.stored([before])
    assert started.knows(before), "one that starts has read the objects"
    assert started.wanted(before) == before
    late.learn(SECOND)
    clock.now += READ_BY_ALL
    after = one.wanted(before)
    assert after != before
    assert after == started.wanted(before)
    assert late.wanted(after) == after, "nobody writes it back"
    assert late.knows(after)
    assert late.knows(before)
    clock.now += OVERLAP
    for each in (one, late, started):
        each.learn(SECOND)
        each.stored([after])
        assert not each.knows(before)
        assert each.knows(after)


def test_n1_who_is_ahead_of_time_is_not_written_over() -> None:
    clock = OwnClock()
    one, ahead = replica(clock, FIRST), OwnClock()
    clock.now += READ_BY_ALL
    ahead.now += 3 * PERIOD
    theirs = replica(ahead, FIRST).wanted("")
    assert one.knows(theirs)
    assert one.wanted(theirs) == theirs
