"""Players by fixed rules."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import GameError, SpecError
from treeplex.forms.sources.load import load
from treeplex.search.match.lbr_run import local_best_response
from treeplex.search.named_agents.registry import agent


def test_a_local_best_response_wins_from_the_caller_what_is_published():
    found = local_best_response("leduc_poker", "rules(style=caller)")
    assert found.exact
    assert found.value == pytest.approx(1.4667, abs=1e-4)  # always-call in Leduc poker


def test_simple_styles_do_one_thing():
    game = load("leduc_poker")
    for style, names in (("folder", {"Call"}), ("caller", {"Call"}), ("shover", {"Raise"})):
        player = agent(f"rules(style={style})", game)
        player.begin()
        player.see(game.public.options(player.state).labels[0])
        while game.public.options(player.state).player < 0:
            player.see(game.public.options(player.state).labels[0])
        played = player.policy().argmax(axis=0)
        labels = game.public.options(player.state).labels
        assert {game.public.action_name(player.state, labels[k]) for k in played} == names


def test_stronger_hands_do_more():
    game = load("holdem(stack=40,preflop=[2.5bb;a],sizes=[75%;a])")
    player = agent("rules(style=regular)", game)
    player.begin()
    table = player.policy()
    names = game.public.rules.format.names()
    aces, trash = names.index("AsAh"), names.index("7s2h")
    assert table[1:, aces].sum() == 1.0
    assert table[0, trash] == 1.0
    folds = table[0].mean()
    loose = agent("rules(style=station)", game)
    loose.begin()
    assert loose.policy()[0].mean() < folds


def test_more_opponents_need_stronger_hands():
    """Six-handed, the first player enters with few hands, and the small blind with many once all others have folded."""
    game = load("holdem(players=6,stack=200,preflop=[2.5bb;3x;a],sizes=[75%;a])")
    player = agent("rules(style=regular)", game)
    player.begin()
    entered = []
    while player.opponents:
        entered.append(1.0 - player.policy()[0].mean())
        player.see(0)
    assert len(entered) == 5
    assert entered == sorted(entered)
    assert entered[0] < 0.15
    assert entered[-1] > 0.3


def test_unknown_styles_and_other_games_are_refused():
    with pytest.raises(SpecError, match="style"):
        agent("rules(style=shark)", "leduc_poker")
    with pytest.raises(GameError, match="poker"):
        agent("rules(style=caller)", "tic_tac_toe")


def test_whole_payoffs_are_those_of_single_deals():
    game = tp.load("holdem(ranks=5,suits=2,stack=9,rake=0.1)").public
    random = np.random.default_rng(1)
    for _ in range(20):
        state = game.first_state()
        while len(labels := game.options(state).labels):
            state = game.after(state, labels[int(random.integers(len(labels)))])
        free = np.flatnonzero(game.free(state))
        deals = [(a, b) for a in free for b in free if not set(game.hands[a]) & set(game.hands[b])]
        deals = np.array(deals)[random.integers(len(deals), size=8)]
        assert np.allclose(game.payoffs_of(state, deals), [game.payoffs(state, each) for each in deals.tolist()])
