"""Ctrl-C and SIGTERM: what the first one says and does, and the second."""

import signal

import pytest

from treeplex.run.job.interrupt import NOTICE, Interrupt

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("first", SIGNALS)
@pytest.mark.parametrize("second", SIGNALS)
def test_the_first_signal_asks_and_the_second_stops_at_once(first, second, capsys):
    before = [signal.getsignal(each) for each in SIGNALS]
    with Interrupt() as interrupt:
        assert not interrupt.requested
        signal.raise_signal(first)
        assert interrupt.requested
        assert capsys.readouterr().err == f"{NOTICE}\n"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(second)
    assert [signal.getsignal(each) for each in SIGNALS] == before


def test_a_program_keeps_its_own_handler():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    try:
        with Interrupt() as interrupt:
            signal.raise_signal(signal.SIGTERM)
            assert seen == [signal.SIGTERM]
            assert not interrupt.requested
            signal.raise_signal(signal.SIGINT)
            assert interrupt.requested
    finally:
        signal.signal(signal.SIGTERM, before)


def test_one_within_another_leaves_the_signals_to_the_outer_one():
    with Interrupt() as outer, Interrupt() as inner:
        signal.raise_signal(signal.SIGTERM)
        assert (outer.requested, inner.requested) == (True, False)
