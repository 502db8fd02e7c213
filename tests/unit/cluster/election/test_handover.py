"""What stands on the Lease between two leaders."""

import pytest

from cardquota.cluster.election import handover_text, read_handover


def test_what_is_written_is_read() -> None:
    revisions = {"pods": 12, "nodes": 7}
    assert handover_text(revisions) == '{"nodes":7,"pods":12}'
    assert read_handover(handover_text(revisions)) == revisions


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", '{"pods": "7"}', '{"pods": 1.5}', "[" * 9999]
)
def test_what_we_did_not_write_is_none(text: str | None) -> None:
    assert read_handover(text) is None
