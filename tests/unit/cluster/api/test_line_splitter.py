from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cardquota.cluster.watch import LineSplitter


@given(
    st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"")), max_size=8),
    st.lists(st.integers(0, 200), max_size=10),
)
def test_lines_come_out_whole_wherever_it_is_cut(lines: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    splitter = LineSplitter()
    got = [line for start, end in pairwise(edges) for line in splitter.feed(stream[start:end])]
    assert got == [line for line in lines if line and not line.isspace()]


def test_half_a_line_is_kept_back() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b'{"a"') == []
    assert splitter.feed(b"") == []
    assert splitter.feed(b':1}\n\r\n\n{"b"') == [b'{"a":1}']
    assert splitter.feed(b"}\n") == [b'{"b"}']
