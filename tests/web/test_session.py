"""A person at a table: what is shown and hidden, what decisions cost, and what is kept."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.errors import FileError, GameError, SpecError
from treeplex.games.public import PublicGame
from treeplex.holdem.cards.cards import HANDS, cards_to_string, parse_cards
from treeplex.holdem.cards.evaluator import strengths
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.holdem.tables.spot import HoldemTable
from treeplex.holdem.whole.named import holdem
from treeplex.holdem.whole.phh import read_phh
from treeplex.search.agents.agent import UniformAgent
from treeplex.search.tables.judging import estimate
from treeplex.web.playing.hands import HandReplay
from treeplex.web.playing.session import TableSession
from treeplex.web.playing.tables import plain
from treeplex.web.playing.thoughts import rows_of

HOLDEM_GAME = "holdem(stack=40,sizes=[50%;100%;a])"


def play_hands(session: TableSession, hands: int, seed: int = 0) -> list[dict[str, Any]]:
    """Finished hands, played at random."""
    draw, done = random.Random(seed), []
    for number in range(hands):
        view = session.view()
        while not view["over"]:
            hidden = [seat for seat in view["scene"]["seats"] if not seat["person"]]
            assert all(set(seat.get("cards", "?")) == {"?"} and set(seat.get("dice", [0])) == {0} for seat in hidden)
            view = session.play(draw.choice(view["options"])["id"])
        done.append(view["hand"])
        if number + 1 < hands:
            session.next()
    return done


@pytest.mark.slow_cases("leduc_poker--0.0856064")
@pytest.mark.parametrize(("game", "value"), [("kuhn_poker", -1 / 18), ("leduc_poker", -0.0856064)])
def test_results_without_luck_are_the_games_value_less_what_was_lost(game: str, value: float) -> None:
    """AIVAT and the values of actions know nothing of each other; the values are Kuhn's (1950) and OpenSpiel's of Leduc."""
    session = TableSession(game, "solution", seed=1)
    assert session.solved is not None
    worth = session.solved.values.values[0]
    assert worth[0] == pytest.approx(value, abs=1e-4)
    for hand in play_hands(session, 20):
        below = [np.dot(each["policy"], each["values"]) - each["values"][each["chosen"]] for each in hand["decided"]]
        assert hand["luckless"] == pytest.approx(worth[hand["person"]] - sum(below), abs=1e-9)
        assert hand["lost"] >= sum(below) - 1e-9


def test_a_mistake_is_called_one() -> None:
    session = TableSession("kuhn_poker", "solution", seat=0, seed=0)
    while session.table.view(0) != "2":
        while not session.view()["over"]:
            session.play(0)
        session.next()
    session.play(0)
    if not session.view()["over"]:  # bet at with the best card
        judged = session.play(0)["last"]
        assert (judged["verdict"], judged["by"]) == ("mistake", "solution")
        assert judged["lost"] == pytest.approx(3.0, abs=0.01)


@pytest.mark.quick_cases("kuhn_poker-solution")
@pytest.mark.parametrize(("game", "against"), [("kuhn_poker", "solution"), ("holdem(stack=20,sizes=[100%;a])", "uniform")])
def test_a_table_goes_on_from_its_file(tmp_path: Path, game: str, against: str) -> None:
    """After every action another session on the same file stands where the first one does."""
    path, draw = tmp_path / "1.jsonl", random.Random(0)
    path.write_text('{"table": {}}\n')
    session = TableSession(game, against, seed=3, keep=str(path))
    for _ in range(8):
        view = session.view()
        view = session.next() if view["over"] else session.play(draw.choice(view["options"])["id"])
        with path.open("a") as file:
            file.write('{"move": {"se')  # what a server leaves that is killed while it writes
        again = TableSession(game, against, keep=str(path)).view()
        dice = {} if view["over"] else {"dice": view["dice"]}
        assert plain(again | {"dice": 0}) == plain(view | {"dice": 0})
        assert again | dice == again
    assert len(session.hands) > 2


@pytest.mark.quick_cases("solution")
@pytest.mark.parametrize("against", ["solution", "search(depth=1,iterations=4)"])
def test_what_the_others_thought_is_their_policy(against: str) -> None:
    """Ranges move by Bayes' rule from one decision to the next."""
    session, moved, searches = TableSession("kuhn_poker", against, seed=8), 0, 0
    for hand in play_hands(session, 12):
        expected = dict.fromkeys("JQK", 1 / 3)
        for thought in hand["thoughts"]:
            shares = {each["name"]: each["share"] for each in thought["hands"]}
            rows = {each["name"]: each["policy"] for each in thought["hands"]}
            assert shares == pytest.approx({name: share for name, share in expected.items() if share}, abs=1e-4)
            assert thought["policy"] == rows[thought["held"]]
            assert thought["mean"] == pytest.approx(
                sum(shares[name] * np.array(rows[name]) for name in rows).tolist(), abs=1e-3
            )
            played = {name: shares[name] * rows[name][thought["chosen"]] for name in rows}
            expected = {name: share / sum(played.values()) for name, share in played.items()}
            moved += len({*shares.values()}) > 1
            searches += thought["search"] is not None
    assert moved > 0
    assert (searches > 0) == (against != "solution")


def test_a_full_disk_leaves_the_hands_of_a_table_and_a_deleted_one_stays_deleted(tmp_path: Path) -> None:
    resource, path = pytest.importorskip("resource"), tmp_path / "1.jsonl"
    path.write_text('{"table": {}}\n')
    session = TableSession("kuhn_poker", "uniform", seed=3, keep=str(path))
    play_hands(session, 3)
    before, (soft, hard) = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(FileError, match="cannot save the table"):
            session.next()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    session.next()
    assert TableSession("kuhn_poker", "uniform", keep=str(path)).view()["number"] == 4
    path.unlink()
    with pytest.raises(FileError, match="cannot save the table"):
        play_hands(session, 2)
    assert not path.exists()


def test_hands_can_be_repeated() -> None:
    session = TableSession("leduc_poker", "uniform", seed=5)
    first, second = play_hands(session, 2)
    session.next(repeat=1)
    (again,) = play_hands(session, 1)
    cards = [[seat["cards"] for seat in hand["scene"]["seats"]] for hand in (first, second, again)]
    assert cards[0] == cards[2]
    assert again["person"] == first["person"]
    with pytest.raises(SpecError, match="there is no hand 9"):
        session.next(repeat=9)


@pytest.mark.slow_cases("battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=3)-grid")
@pytest.mark.parametrize(
    ("game", "kind"),
    [
        ("kuhn_poker(players=3)", "cards"),
        ("leduc_poker(players=3)", "cards"),
        ("small_holdem", "cards"),
        ("holdem(players=6,stack=40,sizes=[100%;a])", "cards"),
        ("goofspiel(num_cards=3,imp_info=true)", "cards"),
        ("liars_dice(dice_sides=3)", "dice"),
        ("phantom_ttt", "grid"),
        ("dark_hex(num_rows=3,num_cols=3)", "grid"),
        ("tic_tac_toe", "grid"),
        ("battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=3)", "grid"),
        ("rock_paper_scissors", "text"),
        ("examples/mygame.py", "text"),
    ],
)
def test_every_game_can_be_played(game: str, kind: str) -> None:
    session = TableSession(game, "uniform", seed=2)
    assert session.view()["scene"]["kind"] == kind
    for hand in play_hands(session, 3):
        assert json.loads(json.dumps(hand))["outcome"]


def test_a_solved_spot_judges_by_its_own_values(solved: dict[str, HoldemSolution]) -> None:
    path = solved["river"].folder
    assert path is not None
    session = TableSession(str(path), "", seat=0, seed=3)
    view = session.view()
    cards = view["scene"]["seats"][0]["cards"]
    judged = session.play(view["options"][-1]["id"])["last"]
    node = load_solution(path).policy.at("")
    row = next(
        place
        for place, hand in enumerate(node.hands)
        if sorted(map(int, HOLDEM.hands[hand])) == sorted(parse_cards("".join(cards)))
    )
    assert judged["values"] == pytest.approx((node.action_ev[:, row] + node.pot / 2).tolist())
    assert judged["policy"] == pytest.approx(node.strategy[:, row].tolist())
    assert judged["lost"] == pytest.approx(node.action_ev[:, row].max() - node.action_ev[-1, row], abs=1e-9)


def test_spots_are_drawn_from_a_folder(solved: dict[str, HoldemSolution]) -> None:
    path = solved["river"].folder
    assert path is not None
    session = TableSession(str(path.parent), "", seat=0, seed=0)
    boards = [len(hand["scene"]["board"]) for hand in play_hands(session, 12)]
    drawn = [hand.spot for hand in session.hands]
    assert {Path(spot).stem for spot in drawn} == {"river", "turn"}
    assert {each["where"].partition(",")[0] for each in session.results()["spots"]} == {"river", "turn"}
    session.next(repeat=1)
    assert (session.hand.spot, len(session.view()["scene"]["board"]) <= boards[0]) == (drawn[0], True)


def test_ranges_are_those_left_by_the_agents_play(solved: dict[str, HoldemSolution]) -> None:
    session = TableSession(str(solved["river"].folder), "", seat=0, seed=3)
    (hand,) = play_hands(session, 1)
    (found,) = hand["ranges"]
    assert sum(each["share"] for each in found["hands"]) == pytest.approx(1.0)
    table, own = session.table, parse_cards("".join(hand["scene"]["seats"][0]["cards"]))
    assert isinstance(table, HoldemTable)
    shares = table.range_against(1, 0)
    assert found["held_share"] == shares[table.hand_of(1)] > 0
    assert not shares[np.isin(HOLDEM.hands, own).any(axis=1)].any()
    names = table.hand_names(1)
    few = {names(hand): shares[hand] for hand in np.flatnonzero(shares)}
    assert {each["name"]: each["share"] for each in found["hands"]} == few
    many = np.full(len(HOLDEM.hands), 1 / len(HOLDEM.hands))
    classes = {each["name"]: each["share"] for each in rows_of(many, names)}
    assert (len(classes), classes["KK"], classes["AKo"]) == (169, pytest.approx(6 / 1326), pytest.approx(12 / 1326))


def test_nobody_holds_the_card_that_one_holds_oneself() -> None:
    """Against random play every other card is as likely: five of them, or four once one lies on the table."""
    for hand in play_hands(TableSession("leduc_poker", "uniform", seed=6), 4):
        (found,) = hand["ranges"]
        (own,) = hand["scene"]["seats"][hand["person"]]["cards"]
        seen = {own, *hand["scene"]["board"]}
        assert {each["name"] for each in found["hands"]} == {rank + suit for rank in "JQK" for suit in "cd"} - seen
        assert [each["share"] for each in found["hands"]] == pytest.approx([1 / (6 - len(seen))] * (6 - len(seen)))


def test_hands_of_holdem_are_written_and_opened_again(tmp_path: Path) -> None:
    session = TableSession(HOLDEM_GAME, "uniform", seed=4)
    for hand in play_hands(session, 3):
        text = session.phh(hand["number"])
        path = tmp_path / f"{hand['number']}.phh"
        path.write_text(text)
        # PHH counts players from the first after the dealer, who is the last player of our games as well
        assert read_phh(path).returns()[hand["person"]] == hand["payoff"]
        steps = HandReplay.of(text).steps()
        assert steps["returns"][hand["person"]] == hand["payoff"]
        assert [step["text"] for step in steps["steps"][:-1]] == [said["text"] for said in hand["said"]]


@pytest.mark.slow
@pytest.mark.parametrize("against", ["resolver(think=none,iterations=20)", "rules(style=caller)"])
def test_whole_hands_are_judged_by_the_strong_agent(against: str) -> None:
    """Preflop by its chart, then by its solves; a hand's loss is the sum of what these find."""
    session = TableSession(HOLDEM_GAME, against, seed=7)
    assert session.view()["judged"] == "resolver"
    hands = play_hands(session, 3)
    decided = [decision for hand in hands for decision in hand["decided"]]
    assert {decision["by"] for decision in decided if decision["where"] == "preflop"} == {"chart"}
    later = [decision for decision in decided if decision["where"] != "preflop"]
    assert {decision["by"] for decision in later} <= {"agent", ""}
    assert all((decision["by"] == "") == (decision["verdict"] == "unknown") for decision in later)
    for hand in hands:
        known = [decision for decision in hand["decided"] if decision["by"] == "agent"]
        lost = sum(decision["lost"] for decision in known if decision["lost"] > decision["close"])
        assert hand["lost"] == (pytest.approx(lost) if known else None)


def test_decisions_among_several_players_are_not_judged() -> None:
    session = TableSession("holdem(players=3,stack=40,sizes=[100%;a])", "rules(style=regular)", seed=1)
    assert session.view()["judged"] is None
    assert all(hand["decided"] == [] for hand in play_hands(session, 2))


def test_an_estimate_is_the_equity_against_the_range() -> None:
    """A call of 10 into 30 on the river, against every hand: each of the 990 is compared here."""
    game = holdem(stack=40, sizes=["50%", "100%", "a"]).public
    assert isinstance(game, PublicGame)
    board = parse_cards("2c7d9hJsQc")
    state: Any = game.first_state()
    for label in (1, 1, *board[:3], 1, 1, board[3], 1, 1, board[4]):  # calls and checks; the cards come one by one
        state = game.after(state, label)
    bet = max(label for label in game.options(state).labels if label <= 6)
    state = game.after(state, bet)
    own = tuple(sorted(parse_cards("AhTs")))
    hand = next(number for number, cards in enumerate(HOLDEM.hands) if tuple(sorted(map(int, cards))) == own)
    options = {int(label): str(label) for label in game.options(state).labels}
    agent = UniformAgent(game)
    agent.begin(1 - game.options(state).player)
    agent.state = state
    judged = estimate(agent, state, game.possible(state), hand, "river", options, 1)
    assert judged is not None
    others = [cards for cards in HOLDEM.hands if not {*map(int, cards)} & {*board, *own}]
    found = strengths(board, np.array([own, *others], np.uint8))
    share = float(((found[0] > found[1:]) + 0.5 * (found[0] == found[1:])).mean())
    stakes = game.stakes_at(state)
    assert stakes is not None
    pot, asked = sum(stakes.paid), max(stakes.paid) - min(stakes.paid)
    assert judged.values[:2] == pytest.approx((0.0, share * pot - (1 - share) * asked))
    assert len(others) == 990
    # a raise: one answer in so many is a fold, whatever the agent holds
    raised = max(options)
    folds = 1 / len(game.options(game.after(state, raised)).labels)
    more = raised - max(stakes.paid)
    called = share * (pot + more) - (1 - share) * (asked + more)
    assert judged.values[-1] == pytest.approx(folds * pot + (1 - folds) * called)


def test_wrong_input_is_one_line() -> None:
    session = TableSession("leduc_poker", "solution", seat=0, seed=1)
    with pytest.raises(SpecError, match="is not available here"):
        session.play(99)
    with pytest.raises(SpecError, match="not over"):
        session.next()
    with pytest.raises(SpecError, match="finished hands"):
        session.reviewed(1)
    with pytest.raises(SpecError, match="seat must be"):
        TableSession("leduc_poker", "solution", seat=4)
    with pytest.raises((SpecError, GameError), match="too large to solve"):
        TableSession(HOLDEM_GAME, "")


def test_a_hand_starts_at_a_node_of_a_solved_spot(solved: dict[str, HoldemSolution]) -> None:
    """Hands come from the ranges that get there, the agent acts on from there, and values are those of the solution there."""
    solution = solved["river"]
    line = "x"
    session = TableSession(str(solution.folder), "", seat=1, seed=5, node=line)
    view = solution.at(line)
    hands = zip(view.hands_of(1), view.weight_of(1), strict=True)
    held = {cards_to_string(sorted(map(int, HANDS[hand]), reverse=True)) for hand, weight in hands if weight > 0}
    for _ in range(5):
        shown = session.view()
        assert not shown["said"]
        assert shown["scene"]["pot"] == view.pot
        assert "".join(shown["scene"]["seats"][1]["cards"]) in held
        while not shown["over"]:
            shown = session.play(shown["options"][0]["id"])
        session.next()
    with pytest.raises(SpecError, match="no step 'b1' in the line"):
        TableSession(str(solution.folder), "", node="x,b1")
    with pytest.raises(SpecError, match="the hand is over"):
        TableSession(str(solution.folder), "", node="x,x")
    with pytest.raises(SpecError, match="solved spot"):
        TableSession("kuhn_poker", "uniform", node="x")


def test_holdem_is_played_in_big_blinds() -> None:
    """Blinds of 1 and 2 and 100 chips are 50 big blinds, in the scene, in the actions, in typed bets and in the outcome."""
    session = TableSession("holdem(stack=100,sizes=[100%;a])", "uniform", seat=1, seed=1)
    shown = session.view()
    seats = shown["scene"]["seats"]
    assert (shown["scene"]["unit"], shown["scene"]["pot"]) == ("bb", 1.5)
    assert [(seat["paid"], seat["behind"]) for seat in seats] == [(1.0, 49.0), (0.5, 49.5)]
    assert {"call 0.5 bb", "all-in 50 bb"} <= {option["name"] for option in shown["options"]}
    shown = session.play(text="50")
    assert shown["said"][0]["text"] == "all-in 50 bb"
    if not shown["over"]:
        shown = session.play(shown["options"][0]["id"])
    assert shown["hand"]["outcome"].endswith(" bb")
    assert shown["scene"]["pot"] in (2.0, 100.0)  # what nobody called is returned
