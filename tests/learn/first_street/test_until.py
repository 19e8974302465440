"""Spots solved on their first street alone: resumed, written and read, looked at, judged; and what is refused."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import treeplex as tp
from treeplex.errors import FileError, PolicyError, SpecError, TreeplexError
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import small
from treeplex.holdem.solve.first_street_judge import judge_first_street
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.holdem.spots.fields import SolveFields
from treeplex.holdem.spots.files import request_from_options
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Rake, Spot

DECK = small(ranks=5, suits=2, hole=2, deal=(0, 3, 1, 1))
TURN = tp.holdem.spot("AsKd7c4h", "QQ+,AKs,JTs", "JJ+,AQs", pot=100, stack=200, bets="100%,a", raises="a")


@cache
def flop() -> Spot:
    return Spot(parse_cards("TcJdQc"), 2.0, 3.0, all_hands(DECK), BetPlan.same("50%,a", "a"), format=DECK)


def by_showdown(iterations: int, **more: object) -> HoldemSolution:
    found = tp.solve(flop(), until="turn", net="showdown", iterations=iterations, **more)  # type: ignore[arg-type]
    assert isinstance(found, HoldemSolution)
    return found


def test_it_resumes_bit_for_bit_and_its_file_gives_it_back(tmp_path: Path) -> None:
    file = tmp_path / "flop.spot"
    whole = by_showdown(20)
    by_showdown(7, out=file)
    resumed = tp.solve(resume=file, iterations=20)
    assert isinstance(resumed, HoldemSolution)
    np.testing.assert_array_equal(resumed.average, whole.average)
    assert resumed.ev == whole.ev
    assert sum(whole.ev) == pytest.approx(0, abs=1e-5)
    assert not whole.judged
    with pytest.raises(FileError, match="already exists"):
        by_showdown(3, out=file)
    again = load_solution(whole.save(tmp_path / "other.spot"))
    assert again.settings == whole.settings
    assert again["x", "TdQd"] == pytest.approx(whole["x", "TdQd"])
    small_file = load_solution(whole.save(tmp_path / "small.spot", resumable=False))
    assert small_file["", "TdQd"] == pytest.approx(whole["", "TdQd"], abs=1e-3)
    with pytest.raises(SpecError, match="saved without solver state"):
        tp.solve(resume=small_file, iterations=30)
    with pytest.raises(PolicyError, match="without its last streets"):
        whole.policy.judge()


def test_what_it_resumes_stays_as_it_was() -> None:
    started = by_showdown(3)
    for options, words in (
        ({"algorithm": "cfr+"}, "uses dcfr, not cfr+; leave the algorithm out"),
        ({"net": "hands"}, "uses net=showdown, not net=hands; leave out 'net'"),
        ({"iterations": 2}, "already has 3 iterations"),
    ):
        with pytest.raises(SpecError, match=words.replace("+", r"\+")):
            tp.solve(resume=started, **{"iterations": 6} | options)
    with pytest.raises(SpecError, match="was started with a schedule of 3 iterations"):
        tp.solve(resume=by_showdown(3, algorithm="hs-dcfr"), iterations=6)
    whole = tp.solve(flop(), iterations=1, target=0.0, threads=1)
    with pytest.raises(SpecError, match="covers all streets; leave out 'until'"):
        tp.solve(resume=whole, until="turn", iterations=6)


def test_other_ranges_do_not_start_from_it() -> None:
    found = tp.solve(flop(), until="turn", net="showdown", iterations=2)
    with pytest.raises(SpecError, match=r"was solved with until=turn .* solve the spot from the start"):
        tp.solve(replace(flop(), ranges=flop().ranges[::-1]), start=found, iterations=40)


def test_values_of_hands_and_equities_are_there_to_look_at() -> None:
    found, whole = by_showdown(20), tp.solve(flop(), iterations=20, target=0.0)
    assert isinstance(whole, HoldemSolution)
    own = flop().ranges[0][found.game.boards[0][0].hands[0]]
    values = found.root_values()[0][found.game.boards[0][0].hands[0]]
    assert float(own @ values) / found.game.compatible == pytest.approx(found.ev[0], abs=1e-4)
    reach = found.hand_values.root_reach()
    for one, other in zip(found.hand_values.equity(0, 0, reach), whole.hand_values.equity(0, 0, reach), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.slow
def test_the_judge_of_a_first_street_counts_its_mistakes_alone() -> None:
    whole = tp.solve(flop(), iterations=150, target=0.0, threads=1)
    assert isinstance(whole, HoldemSolution)
    uniform = replace(whole, average=np.zeros_like(whole.average))
    best, worst, early = (judge_first_street(each, iterations=80, threads=1) for each in (whole, uniform, by_showdown(60)))
    assert best.exploitability < whole.exploitability + 0.003 * flop().pot
    assert best.exploitability < 0.01 * flop().pot < early.exploitability < worst.exploitability
    assert worst.exploitability < tp.judge(flop(), "uniform").exploitability
    assert sum(best.value) == pytest.approx(0, abs=1e-9)
    assert best.value[0] == pytest.approx(whole.ev[0], abs=0.01)


def test_judging_from_a_solution_takes_few_iterations() -> None:
    whole = tp.solve(flop(), iterations=100, target=0.0, threads=1, isomorphism=False)
    assert isinstance(whole, HoldemSolution)
    long, short = (judge_first_street(by_showdown(30), iterations=n, start=of) for n, of in ((60, None), (10, whole)))
    assert long.exploitability - 0.001 < short.exploitability < long.exploitability + 0.008 * flop().pot
    with pytest.raises(PolicyError, match="isomorphism=False"):
        judge_first_street(whole, iterations=2, start=by_showdown(2))
    other = tp.solve(replace(flop(), pot=4.0), until="turn", net="showdown", iterations=2)
    assert isinstance(other, HoldemSolution)
    with pytest.raises(PolicyError, match="the solution to start from belongs to another spot"):
        judge_first_street(other, iterations=2, start=whole)


@pytest.mark.slow
def test_without_later_betting_the_first_street_is_solved_exactly() -> None:
    """Where nobody can bet later, showdown values are right, and the judge finds next to nothing."""
    plan, none = BetPlan.same("50%,a", "a"), BetPlan.same("", "")
    spot = replace(flop(), bets=BetPlan((*plan.streets[:2], *none.streets[2:])))
    found = tp.solve(spot, until="turn", net="showdown", iterations=150)
    assert isinstance(found, HoldemSolution)
    whole = tp.solve(spot, iterations=150, target=0.0)
    assert found.ev[0] == pytest.approx(whole.value[0], abs=0.01)
    assert judge_first_street(found, iterations=20, threads=1).exploitability < 0.01 * spot.pot


@pytest.mark.slow
def test_a_network_is_asked_on_the_river() -> None:
    spot = request_from_options({"board": "AsKd7c4h", "oop": "QQ+,AKs,JTs", "ip": "JJ+,AQs", "pot": 100, "stack": 200,
                                 "bets": "100%,a", "raises": "a", "until": "river", "iterations": 40}).spot()  # fmt: skip
    found, shown = tp.solve(spot), tp.solve(spot, net="showdown")
    whole = tp.solve(replace(spot, settings=SolveFields()), iterations=200, target=0.0)
    assert isinstance(found, HoldemSolution)
    assert found.settings.net == "hands"
    assert abs(found.value[0] - whole.value[0]) < abs(shown.value[0] - whole.value[0])
    assert abs(found.value[0] - whole.value[0]) < 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"until": "turn"}, "the next street is the river; write until: river"),
        ({"until": "river", "storage": "int16"}, "storage has no effect with 'until'"),
        ({"until": "river", "target": 1.0}, "leave out 'target'"),
        ({"until": "river", "threads": 2}, "'threads' has no effect with 'until', which runs on one thread; leave it out"),
        ({"until": "river", "net": "nowhere"}, "no hand network at nowhere"),
        ({"until": "river", "algorithm": "cfr-avg"}, "until river: unknown algorithm 'cfr-avg'"),
        ({"until": "river", "algorithm": "dcfrr"}, "unknown algorithm 'dcfrr'; did you mean 'dcfr'"),
        ({"until": "river", "algorithm": "deepcfr"}, "train it: treeplex train deep-cfr"),
        ({"net": "hands"}, "'net' needs 'until'"),
    ],
)
def test_what_is_refused(options: dict, words: str) -> None:
    with pytest.raises(TreeplexError, match=words):
        tp.solve(TURN, iterations=2, **options)


def test_rake_and_last_streets_are_refused() -> None:
    with pytest.raises(SpecError, match="do not support rake"):
        tp.solve(replace(TURN, rake=Rake(0.05)), until="river", net="showdown", iterations=2)
    with pytest.raises(SpecError, match="iterations must be an integer of at least 1, not 0"):
        tp.solve(replace(TURN, settings=SolveFields(until="river", iterations=0)))
    river = replace(TURN, board=parse_cards("AsKd7c4h2s"))
    with pytest.raises(SpecError, match="no street follows; leave until out"):
        tp.solve(river, until="river", iterations=2)
