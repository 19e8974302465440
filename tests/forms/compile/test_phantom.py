"""Phantom games by timelines are the games that their rules say."""

from dataclasses import replace

import numpy as np
import pytest

import treeplex as tp
from treeplex.engine.phantom import walk
from treeplex.errors import GameError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.phantom import compile_phantom, estimated_terms
from treeplex.forms.compile.views.matrix_form import payoff_matrix
from treeplex.forms.compile.walk import compile_rules
from treeplex.games.builtin.phantom import PhantomGame

SMALL = [
    "phantom_ttt(rows=2,columns=2,line=2)",
    "phantom_ttt(rows=2,columns=3,line=2)",
    "phantom_ttt(rows=1,columns=4,line=2)",
    "phantom_ttt(gameversion=abrupt,rows=2,columns=2,line=2)",
    "dark_hex(board_size=2)",
    "dark_hex(board_size=2,gameversion=adh)",
    "dark_hex(gameversion=adh,num_rows=3,num_cols=1)",
]
SYMMETRIC = [
    "phantom_ttt(rows=2,columns=2,line=2,symmetric=true)",
    "phantom_ttt(gameversion=abrupt,rows=2,columns=2,line=2,symmetric=true)",
    "phantom_ttt(rows=2,columns=3,line=2,symmetric=true)",
    "phantom_ttt(rows=1,columns=4,line=2,symmetric=true)",
    "dark_hex(board_size=2,symmetric=true)",
    "dark_hex(board_size=2,gameversion=adh,symmetric=true)",
]
ABRUPT_TTT_2X3 = "phantom_ttt(gameversion=abrupt,rows=2,columns=3,line=3,symmetric=true)"
ABRUPT_2X3 = "dark_hex(gameversion=adh,num_rows=2,num_cols=3)"


def drawn(game: CompiledGame, like: CompiledGame, seed: int) -> tuple[tp.Policy, tp.Policy]:
    """One random policy on two compiled games."""
    generator = np.random.default_rng(seed)
    first, second = (np.ones(sum(each.sequences)) for each in (game, like))
    for key, infoset in like.lookup.items():
        weights = generator.random(len(like.actions_at(infoset))) ** 3
        second[like.sequences_at(infoset)] = first[game.sequences_at(game.lookup[key])] = weights / weights.sum()
    return tp.Policy(game, first), tp.Policy(like, second)


@pytest.mark.slow_cases("phantom_ttt(rows=2,columns=2,line=2)", "phantom_ttt(rows=2,columns=3,line=2,symmetric=true)")
@pytest.mark.parametrize(
    "spec", [*SMALL, *SYMMETRIC, *(pytest.param(each, marks=pytest.mark.slow) for each in (ABRUPT_2X3, ABRUPT_TTT_2X3))]
)
def test_the_same_game_as_walking_the_rules(spec: str) -> None:
    rules = tp.load(spec)
    game, walked = tp.compile(rules), compile_rules(rules)
    assert len(game.payoff.factors.values)
    assert not len(walked.payoff.factors.values)
    size = replace(walked.size, depth=game.size.depth) if "symmetric" in spec else walked.size  # without draws of equal cells
    assert (game.size, game.infosets, game.sequences) == (size, walked.infosets, walked.sequences)
    assert set(game.lookup) == set(walked.lookup)
    for (player, infostate), infoset in walked.lookup.items():
        own = game.lookup[player, infostate]
        assert (game.infostates[own], game.player_of(own)) == (infostate, player)
        assert game.actions_at(own) == walked.actions_at(infoset)
    for seed in range(3):
        ours, theirs = drawn(game, walked, seed)
        one, two = tp.judge(game, ours), tp.judge(walked, theirs)
        assert one.value == pytest.approx(two.value, abs=1e-12)
        assert one.gains == pytest.approx(two.gains, abs=1e-12)


@pytest.mark.parametrize("spec", SYMMETRIC)
def test_up_to_symmetry_the_value_is_the_same(spec: str) -> None:
    game, whole = tp.compile(spec), tp.compile(spec.replace(",symmetric=true", ""))
    assert sum(game.infosets) < sum(whole.infosets)
    assert tp.solve(game, "lp").value == pytest.approx(tp.solve(whole, "lp").value, abs=1e-9)


@pytest.mark.parametrize("spec", ["dark_hex(board_size=2)", "dark_hex(board_size=2,gameversion=adh,symmetric=true)"])
def test_the_matrix_of_a_factored_game(spec: str) -> None:
    rules = tp.load(spec)
    game, walked = tp.compile(rules), compile_rules(rules)
    ours, theirs = drawn(game, walked, 5)
    for player in (0, 1):
        matrix = payoff_matrix(game, player)
        assert matrix.shape == game.sequences
        assert abs(matrix).sum() == pytest.approx(abs(payoff_matrix(walked, player)).sum())
    assert tp.solve(game, "lp").value == pytest.approx(tp.solve(walked, "lp").value, abs=1e-9)
    assert tp.judge(game, ours).value == pytest.approx(tp.judge(walked, theirs).value)


@pytest.mark.parametrize("algorithm", ["cfr", "pcfr+", "fp", "vt-cfr+"])
def test_every_rule_does_the_same_on_it(algorithm: str) -> None:
    rules = tp.load("dark_hex(board_size=2)")
    one, two = (tp.solve(game, algorithm, iterations=7) for game in (tp.compile(rules), compile_rules(rules)))
    assert one.exploitability == pytest.approx(two.exploitability, abs=1e-10)


@pytest.mark.parametrize("spec", ["dark_hex(board_size=2)", "dark_hex(board_size=2,gameversion=adh,symmetric=true)"])
def test_on_a_device(spec: str) -> None:
    pytest.importorskip("torch")
    rules = tp.load(spec)
    here, there = (tp.solve(rules, "cfr", iterations=20, device=device) for device in (None, "cpu"))
    assert there.exploitability == pytest.approx(here.exploitability, abs=1e-12)


def test_lookup_knows_what_is_not_there() -> None:
    game = tp.compile("phantom_ttt(rows=2,columns=2,line=2)")
    known = next(iter(game.lookup))
    assert known in game.lookup
    for key in [
        (0, "nothing"),
        (2, ""),
        ("0", ""),
        3,
        (0, "x.\n..\n0,0 0,0 "),
        (0, "o.\n..\n0,0 "),
        (0, "..\n..\n0,9 "),
    ]:
        assert key not in game.lookup
    with pytest.raises(KeyError):
        game.lookup[0, "nothing"]


def test_policies_are_saved_and_read(tmp_path) -> None:
    game = tp.compile("dark_hex(board_size=2)")
    policy = tp.solve(game, "cfr+", iterations=20).policy
    for name in ("policy.safetensors", "policy.json"):
        tp.policies.save(policy, tmp_path / name)
        again = tp.load_policy(tmp_path / name)
        assert np.allclose(again.probabilities, policy.probabilities, atol=1e-15)


def test_equal_games_have_equal_identities() -> None:
    square = tp.compile("dark_hex(board_size=2)")
    assert square.identity == tp.compile("dark_hex(num_rows=2,num_cols=2)").identity
    assert square.identity != tp.compile("phantom_ttt(rows=2,columns=2,line=2)").identity
    assert square.identity != tp.compile("dark_hex(board_size=2,symmetric=true)").identity


def test_too_many_entries_are_refused() -> None:
    rules = tp.load("dark_hex(board_size=2)")
    assert isinstance(rules, PhantomGame)
    for limit in (10, 100):  # an estimate says so, or the walk
        with pytest.raises(GameError, match=f"more than the limit of {limit} entries; choose a smaller board"):
            compile_phantom(rules, limit=limit)


@pytest.mark.parametrize("spec", SMALL)
def test_terms_are_estimated(spec: str) -> None:
    rules = tp.load(spec)
    assert isinstance(rules, PhantomGame)
    assert estimated_terms(rules) == pytest.approx(len(tp.compile(rules).payoff.factors.others), rel=0.1)


@pytest.mark.parametrize(("spec", "terms"), [("phantom_ttt", 209_088), ("dark_hex(gameversion=adh)", 584_139_216)])
def test_terms_of_whole_boards_are_estimated(spec: str, terms: int) -> None:
    rules = tp.load(spec)
    assert isinstance(rules, PhantomGame)
    assert estimated_terms(rules) == pytest.approx(terms, rel=0.15)


def test_boards_that_are_clearly_too_large_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("treeplex.forms.compile.phantom.walk_timelines")
    with pytest.raises(
        GameError, match=r"has about .*e\+.* more than the limit of 1,500,000,000 entries; choose a smaller board"
    ):
        tp.compile("dark_hex(gameversion=adh,num_rows=3,num_cols=4)")


def test_memory_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("treeplex.forms.compile.phantom.walk_timelines")
    monkeypatch.setattr("treeplex.forms.compile.phantom.available_memory", lambda: 1 << 30)
    with pytest.raises(GameError, match=r"needs about .* 1,0.. MB are free; symmetric=true needs 8 times less"):
        tp.compile("phantom_ttt(gameversion=abrupt)")
    with pytest.raises(GameError, match=r"are free; choose a smaller board"):
        tp.compile("phantom_ttt(gameversion=abrupt,symmetric=true)")


def test_a_walk_that_runs_out_of_memory_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeplex.engine.phantom.walk.available_memory", lambda: 10_000)
    with pytest.raises(GameError, match=r"more memory than is free.*symmetric=true"):
        tp.compile("dark_hex(num_rows=2,num_cols=3)")


@pytest.mark.slow
def test_a_whole_abrupt_board_up_to_symmetry() -> None:
    """Rudolph et al. 2025 (arXiv 2502.08938), Table 1, has the histories, but for draws of equal cells."""
    game = tp.compile("phantom_ttt(gameversion=abrupt,symmetric=true)")
    assert (game.size.terminals, game.infosets) == (13_578_403_440, (1_810_369, 1_103_467))
    assert len(game.payoff.factors.others) == 49_919_815


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "histories", "infosets", "value", "best"),
    [
        ("phantom_ttt", 19_934_533_171, (3_683_314, 2_307_355), 0.296825, (0.953125, 0.624339)),
        ("dark_hex", 19_119_486_979, (3_720_850, 2_352_067), 1 / 3, (1.0, 0.832804)),
    ],
)
def test_the_uniform_policy_of_whole_boards(
    spec: str, histories: int, infosets: tuple[int, int], value: float, best: tuple[float, float]
) -> None:
    """Rudolph et al. 2025 (arXiv 2502.08938), Table 1, for the counts; values of exp-a-spiel."""
    game = tp.compile(spec)
    assert (game.size.histories, game.infosets) == (histories, infosets)
    judged = tp.judge(game, tp.Policy.uniform(game))
    assert judged.value[0] == pytest.approx(value, abs=1e-6)
    found = [own + gain for own, gain in zip(judged.value, judged.gains, strict=True)]
    assert found == pytest.approx(best, abs=1e-6)
    text = next(iter(game.infostates))
    assert game.lookup[0, text] == 0


def test_no_table_outgrows_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are packed into 32 bits: a walk stops before there are too many, however many frames it makes at once."""
    game, filled, advance, new_walk = tp.load("phantom_ttt(rows=2,columns=3,line=2)"), [0], walk.advance, walk.new_walk
    assert isinstance(game, PhantomGame)
    found = walk.walk_timelines(game.group, game.won, abrupt=False, most=10**9)
    assert found is not None
    steps = 2 * len(found.own.owner)

    def watched(state: walk.TimelineWalk, *rest: object) -> bool:
        going = advance(state, *rest)
        filled[0] = 2 * int(state.own.filled[walk.SEQUENCES])
        return bool(going)

    monkeypatch.setattr(walk, "advance", watched)
    monkeypatch.setattr(walk, "new_walk", lambda group: new_walk(group, 64))
    for packed in (256, steps // 2, 2 * steps):
        monkeypatch.setattr(walk, "MOST_PACKED", packed)
        again = walk.walk_timelines(game.group, game.won, abrupt=False, most=10**9)
        assert (again is None) == (packed < steps)
        assert filled[0] <= packed
