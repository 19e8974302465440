"""A new kind of game gets every agent that searches: its rules and its public states are all that is written here."""

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import AlgorithmError
from treeplex.forms.policies.files import save_policy
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.betting.settlement import Settlement, shared_pot
from treeplex.games.betting.stakes import Stakes
from treeplex.games.card_game import CardGame
from treeplex.games.public import Bets, Chance, Decision, Options, PublicGame, PublicTree, Terminal, pair_state
from treeplex.search import cut
from treeplex.search.agents.agent import agent_policy
from treeplex.search.match.lbr_run import local_best_response
from treeplex.search.subgames.beliefs import Belief

FOLD, CALL, BET = range(3)
NAMES = ("Fold", "Call", "Bet")
COIN = "HT"
CARDS = 4


def this_round(line: str) -> str:
    return line.replace("T", "H").rpartition("H")[2]


def paid(line: str) -> list[int]:
    """Chips of both players: an ante, a bet of one before the coin falls, one of two after it."""
    chips, bet, player = [1, 1], 1, 0
    for letter in line:
        if letter in COIN:
            bet, player = 2, 0
            continue
        if letter == "b":
            chips[player] = chips[1 - player] + bet
        if letter == "c":
            chips[player] = chips[1 - player]
        player = 1 - player
    return chips


def to_move(line: str) -> int:
    """One bet each round, as in Kuhn poker, and a coin between the rounds."""
    played = this_round(line)
    if played.endswith("f"):
        return TERMINAL
    if played in ("cc", "bc", "cbc"):
        return TERMINAL if len(played) < len(line) else CHANCE
    return len(played) % 2


def offered(line: str) -> tuple[int, ...]:
    return (FOLD, CALL) if this_round(line).endswith("b") else (CALL, BET)


def after(line: str, action: int) -> str:
    return line + (COIN[action] if to_move(line) == CHANCE else "fcb"[action])


class CoinState(CheckedState):
    """The cards dealt, and all that happened since as a word."""

    def __init__(self, cards: tuple[int, ...] = (), line: str = "") -> None:
        self.cards, self.line = cards, line

    def current_player(self) -> int:
        return CHANCE if len(self.cards) < 2 else to_move(self.line)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        mover = self.current_player()
        if mover == CHANCE:
            return [action for action, _ in self.chance_outcomes()]
        return [] if mover == TERMINAL else offered(self.line)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        cards = [card for card in range(CARDS) if card not in self.cards] if len(self.cards) < 2 else [0, 1]
        return [(card, 1 / len(cards)) for card in cards]

    def after(self, action: int) -> "CoinState":
        return CoinState((*self.cards, action), "") if len(self.cards) < 2 else CoinState(self.cards, after(self.line, action))

    def returns(self) -> Sequence[float]:
        chips = paid(self.line)
        if self.line.endswith("f"):
            folded = (len(this_round(self.line)) - 1) % 2
        else:  # with heads the high card wins, with tails the low one
            folded = int((self.cards[0] > self.cards[1]) == ("H" in self.line))
        payoff = float(-chips[0] if folded == 0 else chips[1])
        return payoff, -payoff

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        return "".join(map(str, self.cards[player : player + 1])) + self.line

    def action_to_string(self, action: int) -> str:
        return NAMES[action] if self.current_player() >= 0 else str(action)


class CoinPoker(Game):
    def new_initial_state(self) -> CoinState:
        return CoinState()

    def public_tree(self) -> "CoinTree":
        return CoinTree()


class CoinTree(PublicTree):
    """The game as a public tree: nodes are the events after the deal, hands are cards."""

    def __init__(self) -> None:
        self.deals = 1 - np.eye(CARDS, dtype=np.int64)
        self.prior = self.deals / self.deals.sum()
        self.root, self.deal_histories, self.deal_depth = "", 1 + CARDS, 2

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        line, cards = str(node), np.arange(CARDS)
        mover = to_move(line)
        if mover == CHANCE:
            return Chance([(side, np.full((CARDS, CARDS), 0.5)) for side in (0, 1)])
        if mover >= 0:
            return Decision(mover, offered(line))
        if line.endswith("f"):
            return Terminal(np.ones((CARDS, CARDS)), CoinState((0, 1), line).returns()[0])
        high = np.sign(cards[:, None] - cards).astype(np.float64)
        return Terminal(high if "H" in line else -high, float(paid(line)[0]))

    def child(self, node: Hashable, action: int) -> str:
        return after(str(node), action)

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        return f"{hand}{node}"

    def action_to_string(self, node: Hashable, action: int) -> str:
        return NAMES[action]

    def stakes(self, node: Hashable) -> Stakes:
        chips, line = paid(str(node)), str(node)
        return Stakes((float(chips[0]), float(chips[1])), int(any(side in line for side in COIN)), to_move(line) == TERMINAL)

    def bets(self, state: Hashable) -> Bets | None:
        line = str(pair_state(state).node)
        if to_move(line) < 0:
            return None
        chips, bet = paid(line), 2.0 if any(side in line for side in COIN) else 1.0
        pot = 2.0 * max(chips)
        if offered(line) == (FOLD, CALL):
            return Bets(("fold", "pass"), np.zeros(2), np.zeros(2), pot)
        return Bets(("pass", "bet"), np.array([0.0, bet / pot]), np.array([0.0, bet]), pot)


class LowCard(CardGame):
    """Kuhn poker of three players in which the lowest card wins: public states are the bets so far."""

    def __init__(self) -> None:
        super().__init__(3, np.arange(CARDS)[:, None])

    def first_state(self) -> str:
        return ""

    def shown(self, state: Hashable) -> Sequence[int]:
        return ()

    def mover(self, state: Hashable) -> int:
        line = str(state)
        return TERMINAL if len(line) == 3 + max(line.find("b"), 0) else len(line) % 3

    def actions(self, state: Hashable) -> Sequence[int]:
        return 0, 1

    def moved(self, state: Hashable, label: int) -> str:
        return f"{state}{'pb'[label]}"

    def settlement(self, state: Hashable) -> Settlement:
        line = str(state)
        first = line.find("b")
        stays = [first < 0 or line[seat if seat >= first else 3 + seat] == "b" for seat in range(3)]
        return shared_pot([1 + (stay and first >= 0) for stay in stays], [not stay for stay in stays])

    def strengths_on(self, board: Sequence[int]) -> np.ndarray:
        return -np.arange(CARDS)

    def line_of(self, state: Hashable) -> Hashable:
        return state

    def infostate_at(self, state: Hashable, player: int, hand: int) -> str:
        return f"{hand}{state}"

    def action_name(self, state: Hashable, label: int) -> str:
        return ("Bet" if label else "Check") if "b" not in str(state) else ("Call" if label else "Fold")


class LowState(CheckedState):
    """A history of :class:`LowCard`."""

    public = LowCard()

    def __init__(self, cards: tuple[int, ...] = (), line: str = "") -> None:
        self.cards, self.line = cards, line

    def current_player(self) -> int:
        return CHANCE if len(self.cards) < 3 else self.public.mover(self.line)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        mover = self.current_player()
        if mover == CHANCE:
            return [card for card in range(CARDS) if card not in self.cards]
        return [] if mover == TERMINAL else [0, 1]

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return [(card, 1 / (CARDS - len(self.cards))) for card in self.legal_actions()]

    def after(self, action: int) -> "LowState":
        dealt = len(self.cards) == 3
        return LowState(self.cards, self.public.moved(self.line, action)) if dealt else LowState((*self.cards, action))

    def returns(self) -> Sequence[float]:
        return self.public.payoffs(self.line, self.cards)

    def information_state_string(self, player: int | None = None) -> str:
        player = self.current_player() if player is None else player
        return "".join(map(str, self.cards[player : player + 1])) + self.line

    def action_to_string(self, action: int) -> str:
        return self.public.action_name(self.line, action) if len(self.cards) == 3 else str(action)


class LowKuhn(Game):
    num_players = 3

    def new_initial_state(self) -> LowState:
        return LowState()

    def public_game(self) -> LowCard:
        return LowCard()


@pytest.fixture(scope="module")
def game() -> CoinPoker:
    return CoinPoker()


@pytest.fixture(scope="module")
def blueprint(game: CoinPoker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A blueprint that loses something."""
    file = tmp_path_factory.mktemp("coin") / "blueprint.json"
    save_policy(tp.solve(game, "cfr", iterations=5).policy, file)
    return file


SEARCHES = {
    "search(depth=0,iterations=200,drawn=false)": 0.02,
    "search(depth=2,leaf=exact,iterations=8,drawn=false)": 0.9,
    "deepstack(leaf=exact,iterations=30,leaf_iterations=30)": 0.2,
    "libratus(blueprint=FILE,gadget=reach-maxmargin,iterations=200)": 0.3,
    "modicum(blueprint=FILE,iterations=200)": 0.3,
}


@pytest.mark.parametrize(("text", "most"), SEARCHES.items())
def test_agents_for_two_play_it(game: CoinPoker, blueprint: Path, text: str, most: float) -> None:
    agent = tp.agent(text.replace("FILE", str(blueprint)), game, seed=0)
    policy = agent_policy(agent, tp.compile(game), plays=1, seed=0)
    assert tp.exploitability(game, policy) <= most < tp.exploitability(game, "uniform")


def test_matches_with_luck_removed_and_local_best_responses(game: CoinPoker, blueprint: Path) -> None:
    played = tp.match(game, [f"blueprint(file={blueprint})", "uniform"], hands=200, aivat=True, sampled=True, seed=1)
    exact = tp.match(game, [f"blueprint(file={blueprint})", "uniform"])
    assert exact.exact
    assert played.value[0] == pytest.approx(exact.value[0], abs=3 * played.stderr[0])
    assert played.stderr[0] < played.scores[0].plain.error[0] / 2
    response = local_best_response(game, str(blueprint), seed=0)
    assert 0 < response.value <= tp.exploitability(game, str(blueprint)) + 1e-9


@pytest.mark.parametrize("search", ["all", "sampled"])
def test_pluribus_for_three(tmp_path: Path, search: str) -> None:
    game = LowKuhn()
    save_policy(tp.solve(game, "cfr+", iterations=100).policy, tmp_path / "low.json")
    text = f"pluribus(blueprint={tmp_path / 'low.json'},search={search},search_after=0,iterations=10)"
    played = tp.match(game, [text, "uniform", "uniform"], hands=12, sampled=True, seed=0)
    assert not played.failures
    assert played.value[0] > 0


class OwnSubgames(CoinTree):
    """A game with subgames of its own kind: it says so by its own method."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def cut(self, beliefs: Sequence[Belief], horizon: object, gadget: object = None) -> None:
        self.asked += 1


class UnsearchableGame(PublicGame):
    """A public game without subgames: neither a public tree nor its own."""

    def __init__(self, inner: CoinTree) -> None:
        self.inner = inner

    def first_state(self) -> Hashable:
        return self.inner.first_state()

    def options(self, state: Hashable) -> Options:
        return self.inner.options(state)

    def after(self, state: Hashable, label: int) -> Hashable:
        return self.inner.after(state, label)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    possible = dealt = opposing = joint = draw = payoffs = chances = lambda self, *args: ()


def test_a_game_is_asked_for_its_subgames_first() -> None:
    own = OwnSubgames()
    assert len(cut(own, [Belief.root(own)]).leaves) == 0
    assert own.asked == 1
    other = UnsearchableGame(CoinTree())
    with pytest.raises(AlgorithmError, match=r"has no public tree; .* public_tree\(\)"):
        cut(other, [Belief.root(CoinTree())])
