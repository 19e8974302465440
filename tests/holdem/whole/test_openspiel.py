"""Whole hold'em against OpenSpiel's ``universal_poker`` and ``repeated_poker``, move by move."""

import random
from typing import Any

import pytest

from treeplex.errors import SpecError
from treeplex.games.registry import load
from treeplex.holdem.cards.cards import parse_card
from treeplex.holdem.whole.game import Holdem, HoldemHistory
from treeplex.holdem.whole.named import holdem
from treeplex.holdem.whole.repeated import RepeatedState

pyspiel = pytest.importorskip("pyspiel")


def universal(game: Holdem) -> Any:
    """The game in OpenSpiel."""
    betting, form = game.rules.betting, game.rules.format
    first = [betting.seat(len(betting.blinds)) if betting.players > 2 else betting.dealer]
    first += [betting.seat(0) if betting.players > 2 else betting.seat(1)] * (form.streets - 1)
    words = {
        "betting": "limit" if betting.limits else "nolimit",
        "bettingAbstraction": "fcpa" if betting.limits else "fullgame",
        "numPlayers": betting.players,
        "numRounds": form.streets,
        "blind": " ".join(map(str, betting.by_seat(betting.blinds))),
        "firstPlayer": " ".join(str(player + 1) for player in first),
        "numSuits": len({card & 3 for card in form.deck}),
        "numRanks": len({card >> 2 for card in form.deck}),
        "numHoleCards": form.hole,
        "numBoardCards": " ".join(map(str, form.deal)),
    }
    words |= {"stack": " ".join(map(str, betting.stacks))}
    words |= {"raiseSize": " ".join(map(str, betting.limits))} if betting.limits else {}
    words |= {"maxRaises": " ".join(map(str, betting.most))} if betting.most else {}
    return pyspiel.load_game("universal_poker(" + ",".join(f"{key}={value}" for key, value in words.items()) + ")")


def card_of(theirs: Any, action: int) -> int:
    """The card that OpenSpiel deals with an action."""
    return parse_card(theirs.action_to_string(pyspiel.PlayerId.CHANCE, action).rpartition(" ")[2])


def replay(game: Holdem, spiel: Any, generator: random.Random) -> HoldemHistory:
    """One random hand of both."""
    mine, theirs = game.new_initial_state(), spiel.new_initial_state()
    while not theirs.is_terminal():
        assert mine.current_player() == theirs.current_player(), (mine.table, str(theirs))
        if theirs.is_chance_node():
            action = generator.choice(theirs.legal_actions())
            card = card_of(theirs, action)
            assert sorted(mine.legal_actions()) == sorted(card_of(theirs, each) for each in theirs.legal_actions())
            mine, theirs = mine.child(card), theirs.child(action)
            continue
        actions = theirs.legal_actions()
        if game.rules.betting.limits:
            assert [min(action, 2) for action in mine.legal_actions()] == actions
        else:
            assert list(mine.legal_actions()) == actions, (mine.table, mine.game.spec)
        place = random_place(actions, generator)
        mine, theirs = mine.child(mine.legal_actions()[place]), theirs.child(actions[place])
    assert mine.is_terminal()
    assert mine.returns() == pytest.approx(theirs.returns(), abs=1e-9)
    return mine


def random_place(actions: list[int], generator: random.Random) -> int:
    """Which action to take: folds and large raises are rare."""
    kind, passive = generator.random(), sum(action < 2 for action in actions)
    if kind < 0.1:
        return 0
    if kind < 0.55 or len(actions) == passive:
        return passive - 1
    if kind < 0.65:
        return len(actions) - 1
    return min(passive + int(generator.expovariate(0.1)), len(actions) - 1)


def random_game(generator: random.Random) -> Holdem:
    players = generator.randint(2, 6)
    big = generator.randint(2, 6)
    blinds = [generator.randint(1, big), big]
    if players > 2 and generator.random() < 0.3:
        blinds.append(2 * big)
    given: dict[str, Any] = {"dealer": generator.randrange(players), "rules": "acpc", "blinds": blinds}
    if players < 5 and generator.random() < 0.2:  # OpenSpiel reads maxRaises as if it were stacks, one for each player
        given |= {"bets": [big, big, 2 * big, 2 * big], "raises": generator.choice([0, [3, 4, 4, 4], [1, 2, 3, 1]])}
        given |= {"stack": 5000}
    else:
        deep = generator.choice([3, 10, 40])
        given["stack"] = [generator.randint(max(blinds), deep * big + max(blinds)) for _ in range(players)]
        given["stack"][0] += 1  # where the blinds put all players all-in, OpenSpiel looks for a player to act forever
    return holdem(players=players, **given)


@pytest.mark.quick_cases("3")
@pytest.mark.parametrize("part", range(4))
def test_hands_of_universal_poker(part: int) -> None:
    for seed in range(25 * part, 25 * part + 25):
        generator = random.Random(seed)
        game = random_game(generator)
        spiel = universal(game)
        for _ in range(4):
            replay(game, spiel, generator)


KAGGLE = (
    "universal_poker(betting=nolimit,bettingAbstraction=fullgame,blind=2 1,firstPlayer=2 1 1 1,numBoardCards=0 3 1 1,"
    "numHoleCards=2,numPlayers=2,numRanks=13,numRounds=4,numSuits=4,stack=200 200)"
)
FOUR = KAGGLE.replace("blind=2 1", "blind=0 1 2 0").replace("firstPlayer=2 1 1 1", "firstPlayer=4 2 2 2")
FOUR = FOUR.replace("numPlayers=2", "numPlayers=4").replace("stack=200 200", "stack=60 80 100 40")


@pytest.mark.parametrize(
    ("settings", "hand"),
    [
        pytest.param("max_num_hands=100,reset_stacks=True,rotate_dealer=True", KAGGLE, marks=pytest.mark.slow),
        ("max_num_hands=50,reset_stacks=False,rotate_dealer=True", KAGGLE),
        ("max_num_hands=50,reset_stacks=False,rotate_dealer=True,blind_schedule=5:1/2;5:2/4;5:3/7", FOUR),
        ("max_num_hands=20,reset_stacks=True,rotate_dealer=False", FOUR),
    ],
)
def test_matches_of_repeated_poker(settings: str, hand: str) -> None:
    """Whose turn, actions, chips and returns, move by move, in matches to their end."""
    spec = f"repeated_poker({settings},universal_poker_game_string={hand})"
    game, spiel = load(spec), pyspiel.load_game(spec)
    assert load(game.spec).spec == game.spec
    played = []
    for seed in range(3):
        generator = random.Random(seed)
        mine, theirs = game.new_initial_state(), spiel.new_initial_state()
        assert isinstance(mine, RepeatedState)
        while not theirs.is_terminal():
            actions = theirs.legal_actions()
            assert mine.current_player() == theirs.current_player()
            assert list(mine.legal_actions()) == actions
            assert list(mine.stacks) == list(theirs.stacks())
            assert mine.button == theirs.dealer()
            action = generator.choice(actions) if theirs.is_chance_node() else careful(actions, generator)
            mine = mine.child(action)
            theirs.apply_action(action)
        assert mine.is_terminal()
        assert mine.returns() == pytest.approx(theirs.returns(), abs=1e-9)
        played.append(len(mine.past) + 1)
    assert max(played) >= 5


def careful(actions: list[int], generator: random.Random) -> int:
    """Like :func:`random_place`, all-in less often, so that matches last."""
    place = random_place(actions, generator)
    return actions[place if place + 1 < len(actions) or generator.random() < 0.1 else 1 % len(actions)]


def test_what_cannot_be_read_of_universal_poker() -> None:
    for changed, message in [
        (KAGGLE.replace("fullgame", "fcpa"), "write fullgame"),
        (KAGGLE.replace("firstPlayer=2 1 1 1", "firstPlayer=1 1 1 1"), "do not place the blinds in table order"),
        (KAGGLE.replace("blind=2 1", "blind=2 x"), "integers"),
        (KAGGLE.replace("numSuits=4", "potSize=4"), "potSize is not supported"),
        ("leduc_poker", r"only universal_poker\(...\) is supported"),
    ]:
        with pytest.raises(SpecError, match=message):
            load(f"repeated_poker(universal_poker_game_string={changed})")
