"""The study of one scheme for every game: its games are what they should be, its verdicts follow from its scores."""

from collections import Counter

import numpy as np
import pytest

import treeplex as tp
from papers.vtcfr import games, runs, scores

QUICK = ("matrix", "blotto", "tree", "kuhn", "river, 25")
"""What names of games begin with that compile in a moment and are made by the study itself."""


def test_names_are_unique_and_thirty_games_were_never_tuned_on():
    assert len({game.name for game in games.STUDY_GAMES}) == len(games.STUDY_GAMES) >= 36
    groups = Counter(game.group for game in games.STUDY_GAMES)
    assert set(groups) == set(games.GROUPS)
    assert groups[games.FRESH] >= 30


def test_specs_name_games_and_no_game_is_there_twice():
    specs = [game.source for game in games.STUDY_GAMES if isinstance(game.source, str)]
    own = [tp.load(spec) for spec in specs if not spec.startswith("openspiel:")]
    assert {game.num_players for game in own} == {2}
    assert len({game.spec for game in own}) == len(own)


@pytest.mark.slow
def test_games_of_the_study_are_zero_sum_deterministic_and_different():
    made = [game for game in games.STUDY_GAMES if game.name.startswith(QUICK)]
    compiled = [tp.compile(game.rules()) for game in made]
    assert len(made) > 20
    assert all(game.zero_sum and game.players == 2 for game in compiled)  # compilation refuses chances that do not sum to one
    assert len({game.identity for game in compiled}) == len(made)
    again = [tp.compile(game.rules()).identity for game in made[::5]]
    assert again == [game.identity for game in compiled[::5]]


def test_kuhn_poker_by_cards_is_kuhn_poker():
    game = tp.compile(games.kuhn(3))
    assert tp.policies.exact_value(game) == pytest.approx(-1 / 18, abs=1e-9)
    assert game.infosets == (6, 6)


def test_blotto_counts_fields():
    payoffs = games.blotto(2, (1.0, 3.0)).payoffs[0]
    assert payoffs.tolist() == [[0, 2, 2], [-2, 0, 2], [-2, -2, 0]]  # (0, 2), (1, 1), (2, 0): the second field is worth 3
    assert np.array_equal(payoffs, -payoffs.T)


@pytest.mark.parametrize(
    ("own", "verdict"), [((1.0, 0.9, 1.1), "best"), ((2.5, 1.9, 3.0), "tied"), ((9.0, 8.0, 10.0), "behind")]
)
def test_verdict_follows_from_ranges(own, verdict):
    row = {"a": scores.Score(*own), "b": scores.Score(3.0, 2.0, 4.0), "c": scores.Score(6.0, 5.0, 7.0)}
    found = scores.lead(row, "a")
    assert (found.verdict, found.rival) == (verdict, "b")
    assert found.low <= found.dex <= found.high
    assert found.dex == pytest.approx(np.log10(own[0] / 3.0))


def test_two_solved_games_are_tied_and_a_repeat_counts_in_the_range():
    stages = dict.fromkeys(runs.STAGES, 1e-13)
    worse = {**stages, runs.STAGES[0]: 1e-5}
    made = [runs.Run("kuhn", name, seed, stages, 0.0) for name in ("a", "b") for seed in (1, 2)]
    made.append(runs.Run("kuhn", "b", 3, worse, 0.0))
    row = scores.scores(made)["kuhn"]
    assert row["a"].solved
    assert not row["b"].solved
    assert row["b"].high == pytest.approx((1e-5 * 1e-22) ** (1 / 3))
    assert scores.lead(row, "a").verdict == "tied"
    assert scores.leads({"kuhn": row}, "a", but="c")["kuhn"].rival == "b"


def test_shown_games_were_not_tuned_on():
    assert all(runs.GAMES[name].group == games.FRESH for name in runs.SHOWN)


def test_stored_runs_are_taken_of_what_has_not_changed():
    values = [[1.0, 0.5, 0.25], [1.0, 0.5, 0.125]]
    before = {game: dict.fromkeys(("cfr", "lcfr", "pdcfr+"), values) for game in (*runs.PROBES, runs.SHOWN[0])}
    same = runs.version_of("cfr", [values[0]] * len(runs.PROBES))
    known = {"cfr": same, "lcfr": "lcfr 0", "pdcfr+": same.replace("cfr", "pdcfr+", 1), "wop-cfr": same}
    found = runs.earlier(before, known)
    assert {run.algorithm for run in found} == {"cfr"}  # one has changed, one is timed, one is new
    assert len(found) == 2 * len(before)
    assert found[1].exploitability == dict(zip(runs.STAGES, values[1], strict=True))
    assert np.isnan(found[0].seconds)


def test_what_is_drawn_is_run_again():
    values = [[1.0, 0.5, 0.25]]
    game = next(iter(runs.SHOWN))
    before = {name: {"dcfr": values} for name in (*runs.PROBES, game)}
    found = runs.earlier(before, {"dcfr": runs.version_of("dcfr", [values[0]] * len(runs.PROBES))})
    assert {run.game for run in found} == set(runs.PROBES)
