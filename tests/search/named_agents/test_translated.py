"""Agents of games with few bets at other tables, by name."""

from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError, PolicyError, SpecError
from treeplex.evaluate import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.files import save_policy
from treeplex.forms.sources.load import load, public_tree
from treeplex.search.agents.agent import TableAgent, play_game
from treeplex.search.resolving.resolved import resolve_subgames
from treeplex.search.subgames.policy_tables import table_at
from treeplex.search.translation.agent import TranslatedAgent
from treeplex.search.translation.exact import translated_policy

REAL = "no_limit_leduc(sizes=[50%;100%;a],stack=700)"
FEW = "no_limit_leduc(stack=700)"


@pytest.mark.slow
def test_a_blueprint_of_few_bets_plays_many(tmp_path: Path) -> None:
    policy = tp.solve(FEW, iterations=20).policy
    save_policy(policy, tmp_path / "few.json")
    game = load(REAL)
    first = tp.agent(f"translated(agent=blueprint(file={tmp_path / 'few.json'}),game={FEW},mapping=likelier)", game, seed=1)
    second = tp.agent("uniform", game, seed=2)
    assert isinstance(first, TranslatedAgent)
    assert first.mapping == "likelier"
    generator = np.random.default_rng(0)
    won = [play_game([first, second], generator)[0] for _ in range(300)]
    assert np.mean(won) > 30


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tp.solve(FEW, "cfr+", iterations=500).save(tmp_path_factory.mktemp("run") / "few")


@pytest.mark.slow
def test_blueprints_of_few_bets_are_translated(few: Path) -> None:
    game, policy = load(REAL), tp.load_policy(few)
    table = tp.agent(f"blueprint(file={few})", game)
    expected = translated_policy(compile_game(game), policy, public_tree(FEW))
    assert isinstance(table, TableAgent)
    np.testing.assert_allclose(table.table.probabilities, expected.probabilities)
    with pytest.raises(PolicyError):
        tp.agent(f"blueprint(file={few})", "no_limit_leduc(ranks=4)")


@pytest.mark.slow
def test_libratus_translates_before_and_solves_after(few: Path) -> None:
    """The first round is that of the translated blueprint; after the card real bets are solved, and no opponent gains by it."""
    game = load(REAL)
    libratus = tp.agent(f"libratus(blueprint={few},iterations=200)", game)
    before = translated_policy(compile_game(game), tp.load_policy(few), public_tree(FEW))
    after = resolve_subgames(compile_game(game), before, "reach-maxmargin", iterations=200)
    libratus.begin(1)
    labels = game.public.options(game.public.first_state()).labels
    libratus.see(labels[1])  # half the pot, which the blueprint does not know
    np.testing.assert_allclose(libratus.policy(), table_at(before, game.public, libratus.state))
    call = game.public.options(libratus.state).labels[1]
    libratus.see(call)
    libratus.see(card := game.public.options(libratus.state).labels[0])
    libratus.see(game.public.options(libratus.state).labels[0])
    assert game.public.options(libratus.state).player == 1
    can = game.public.possible(libratus.state)[1] > 0
    played, solved = libratus.policy(), table_at(after, game.public, libratus.state)
    assert np.abs(played - solved)[:, can].max() < 0.2, card
    assert judge(compile_game(game), after).exploitability < judge(compile_game(game), before).exploitability - 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["libratus", "modicum"])
def test_who_follows_a_blueprint_is_not_told_of_new_bets(name: str, few: Path) -> None:
    """Its blueprint would not know them; but it plays the game with all bets, for which that is translated."""
    with pytest.raises(SpecError, match="the agent's blueprint lacks bets added during play"):
        tp.agent(f"translated(agent={name}(blueprint={few}),game={FEW},off_tree=resolve)", REAL)
    game = load(REAL)
    players = [tp.agent(f"{name}(blueprint={few},iterations=4)", game, seed=1), tp.agent("uniform", game, seed=2)]
    for seed in range(4):
        assert sum(play_game(players, np.random.default_rng(seed))) == 0


def test_searches_play_on_with_new_bets() -> None:
    game = load(REAL)
    text = f"translated(agent=deepstack(iterations=4,leaf=zero),game={FEW},off_tree=resolve)"
    players = [tp.agent(text, game, seed=1), tp.agent("uniform", game, seed=2)]
    for seed in range(8):
        assert sum(play_game(players[:: 1 - 2 * (seed % 2)], np.random.default_rng(seed))) == 0
    assert players[0].thought is not None


def test_errors_name_the_remedy() -> None:
    with pytest.raises(SpecError, match="agent translated needs agent, game"):
        tp.agent("translated", REAL)
    with pytest.raises(SpecError, match="mapping"):
        tp.agent(f"translated(agent=uniform,game={FEW},mapping=random_one)", REAL)
    with pytest.raises(SpecError, match="poker games with bets"):
        tp.agent("translated(agent=uniform,game=tic_tac_toe)", "tic_tac_toe")
    with pytest.raises(GameError, match="use the same deck"):
        tp.agent("translated(agent=uniform,game=no_limit_leduc(ranks=4))", REAL)
    with pytest.raises(GameError, match="deal different cards"):
        tp.agent("translated(agent=uniform,game=leduc_poker)", REAL)
    with pytest.raises(SpecError, match="cannot solve new bets"):
        tp.agent(f"translated(agent=uniform,game={FEW},off_tree=resolve)", REAL)


def test_a_blueprint_with_as_many_cards_is_of_another_game(tmp_path: Path) -> None:
    """Leduc poker deals as many cards, by other numbers."""
    tp.solve("leduc_poker", iterations=1, out=tmp_path / "limit")
    with pytest.raises(PolicyError, match="a policy for leduc_poker, not for no_limit_leduc"):
        tp.agent(f"libratus(blueprint={tmp_path / 'limit'})", REAL)
