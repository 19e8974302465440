"""Hands that were played, replayed: stacks end as they were recorded, and as PokerKit has them."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pokerkit import HandHistory

from treeplex.holdem.betting.rules import ACPC
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.whole.phh import hand_from

RECORDED = Path(__file__).with_name("recorded_hands.toml")
HANDS = {hand["event"]: hand for hand in tomllib.loads(RECORDED.read_text()).values()}
PLAYED = {history.event: history for history in HandHistory.loads_all(RECORDED.read_text())}


def known(hand: dict[str, Any]) -> dict[str, Any]:
    """The hand, with cards that nobody has for hole cards that nobody knows."""
    words = [word for text in hand["actions"] for word in text.split()[2:] if word[0] in "23456789TJQKA" and not word.isdigit()]
    seen = {card for word in words for card in parse_cards(word)}
    left = [card for card in HOLDEM.deck if card not in seen]
    actions = list[str]()
    for text in hand["actions"]:
        actions.append(text.replace("????", cards_to_string([left.pop(), left.pop()])) if "????" in text else text)
    return {**hand, "actions": actions}


@pytest.mark.parametrize("event", HANDS)
def test_stacks_end_as_recorded(event: str) -> None:
    hand = HANDS[event]
    state = hand_from(known(hand))
    assert state.is_terminal()
    rules = state.game.rules
    if not all(float(stack).is_integer() for stack in hand["finishing_stacks"]):  # recorded by a program that splits chips
        rules = replace(rules, betting=replace(rules.betting, rules=ACPC))
    won = rules.payoffs(state.table, state.board, state.hands)
    assert [stack + gain for stack, gain in zip(hand["starting_stacks"], won, strict=True)] == hand["finishing_stacks"]


@pytest.mark.parametrize("event", HANDS)
def test_decisions_are_those_of_pokerkit(event: str) -> None:
    """At every decision player, chips behind, chips to call and smallest raise are equal."""
    end = hand_from(known(HANDS[event]))
    rules, decisions = end.game.rules.betting, 0
    state = rules.root
    for theirs, action in PLAYED[event].state_actions:
        words = action.split("#")[0].split() if action else []
        if words[1:2] == ["cbr"]:
            state = rules.after(state, state.base + int(words[2]))
        elif words[1:2] in (["cc"], ["f"]):
            state = rules.called(state) if words[1] == "cc" else rules.folded(state)
        if theirs.actor_index is None:
            continue
        state, decisions = rules.to_act(state), decisions + 1
        assert theirs.actor_index == state.player
        assert list(theirs.stacks) == [stack - put for stack, put in zip(rules.behind, state.paid, strict=True)]
        assert theirs.checking_or_calling_amount == min(state.faced, rules.behind[state.player]) - state.paid[state.player]
        raises = rules.legal_raises(state)
        assert theirs.min_completion_betting_or_raising_to_amount == (raises[0] - state.base if raises else None)
    assert decisions >= 5
    assert (state.paid, state.folded) == (end.table.paid, end.table.folded)
