"""Poker games as card games are the games by their rules: actions, deals, payoffs, infosets, along random hands."""

import numpy as np
import pytest

import treeplex as tp
from treeplex.games.base import CHANCE
from treeplex.holdem.rules.card_rules import PokerCards
from treeplex.holdem.rules.rules import PokerGame

GAMES = (
    "small_holdem(ranks=4,suits=3,deal=[0;1;1],bets=[1;2;2],raises=1)",
    "small_holdem(ranks=5,suits=2,hole=2,deal=[0;3],sizes=[100%;a],stack=6)",
    "rhode_island(ranks=3)",
)


@pytest.mark.parametrize("name", GAMES)
def test_they_are_the_games_by_their_rules(name: str) -> None:
    rules = tp.load(name)
    assert isinstance(rules, PokerGame)
    game, generator, ends = PokerCards(rules), np.random.default_rng(0), set[bool]()
    for _ in range(40):
        hands = game.draw(game.first_state(), game.first_ranges(), generator)
        table, state = game.first_state(), rules.new_initial_state().child(hands[0]).child(hands[1])
        assert not set(game.hands[hands[0]]) & set(game.hands[hands[1]])
        while not state.is_terminal():
            options = game.options(table)
            assert options.player == state.current_player()
            if options.player == CHANCE:
                found = dict(zip(options.labels, game.chances(table, hands), strict=True))
                chances = {each: chance for each, chance in found.items() if chance > 0.0}
                assert chances == pytest.approx(dict(state.chance_outcomes()))
                label = int(generator.choice(list(chances), p=list(chances.values())))
            else:
                assert list(options.labels) == list(state.legal_actions())
                expected = state.information_state_string(options.player)
                assert game.infostate_at(table, options.player, hands[options.player]) == expected
                assert game.bets(table) is not None
                label = int(generator.choice(list(options.labels)))
            table, state = game.after(table, label), state.child(label)
        assert game.payoffs(table, hands) == pytest.approx(state.returns())
        ends.add(rules.lines[state.node].lower().endswith("fold"))
    assert ends == {True, False}
