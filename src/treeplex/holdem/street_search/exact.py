"""The policy of street search at every infoset of full-game hold'em with a small deck, for exact evaluation.

The game is compiled as a spot with blinds, up to suit isomorphism, and the hold'em engine evaluates the policy. Search and
evaluation use separate code.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.evaluate.judge import Judgement
from treeplex.games.betting.size_grammar import ANY
from treeplex.holdem.betting.rules import CALL, FOLD, BettingState
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.layout import board_part, store_with
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.spots.known import all_hands
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.street_search.street import Cards, StreetSubgame
from treeplex.holdem.street_search.street_search import played_through, run_stopping
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.leaf import LeafValue
from treeplex.search.methods import METHODS, average_weights
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.subgame import Ranges
from treeplex.search.warm_start.begin import begin_search


def whole_spot(game: PublicHoldem) -> Spot:
    """The game as a spot that begins preflop.

    Raises:
        GameError: stacks, blinds, seats or raises that a spot cannot represent.
    """
    rules, betting = game.rules, game.rules.betting
    plain = (
        game.players == 2
        and betting.dealer == 1
        and len(set(rules.stacks)) == 1
        and len(betting.blinds) == 2
        and not (betting.limits or any(betting.most) or rules.rake.rate or betting.big_blind_ante)
        and len(set(betting.antes[:2])) < 2
        and ANY[0] not in betting.plan.sizes()
    )
    if not plain:
        raise GameError(
            "compiling full-game hold'em needs equal stacks, two blinds, pot-relative or all-in sizes for every street "
            "(sizes=[100%;a]) and no limit on raises; leave out 'dealer', 'rake', 'bets' and 'raises'"
        )
    small, big = betting.blinds
    return Spot(
        (),
        float(sum(rules.antes)),
        float(rules.stacks[0]),
        all_hands(rules.format),
        replace(betting.plan, min_bet=float(big)),
        format=rules.format,
        blinds=(float(small), float(big)),
    )


@dataclass
class Searcher:
    """Searches every street on every board and accumulates the policies played.

    Attributes:
        game, cards: the game, and the cards of its deck.
        compiled: the game compiled for evaluation.
        leaf: values at the ends of streets.
        settings: method, iterations, and number N of playthroughs.
        generator: random generator for iterations.
        average: float64 [Q], the policies of all playthroughs times own reach, in the compiled spot's layout.
        searched: number of rows searched so far.
        watch: called with that number.
        drawn: whether random iterations are played, instead of the average policy of each search.
    """

    game: PublicHoldem
    cards: Cards
    compiled: CompiledSpot
    leaf: LeafValue
    settings: PlaythroughSettings
    generator: np.random.Generator
    average: Floats
    watch: Callable[[int], None]
    drawn: bool
    searched: int = 0

    def street(self, node: int, table: BettingState, street: int, boards: Ints, reaches: Ranges) -> None:
        """Search and play from the start of a street onwards.

        Args:
            node: node of the compiled game's betting.
            table: the same state by the rules.
            street: index of the street.
            boards: int64 [B], indices of the compiled game's boards.
            reaches: float64 [B, N, H] for each player, own reach in each playthrough.
        """
        self.match(node, table)
        count = reaches[0].shape[1]
        size = max(self.settings.batch // count, 1)
        for start in range(0, len(boards), size):
            self._chunk(
                node, table, street, boards[start : start + size], tuple(reach[start : start + size] for reach in reaches)
            )

    def match(self, node: int, table: BettingState) -> None:
        """Check that both forms of the game have the same actions at a decision.

        Raises:
            GameError: the actions differ.
        """
        event = self.compiled.betting.nodes[node]
        assert isinstance(event, Decision)
        spot_actions = [
            FOLD if action.kind == "fold" else CALL if action.kind in ("check", "call") else table.base + round(action.amount)
            for action in event.actions
        ]
        legal = list(self.game.rules.betting.actions(table))
        if event.player != table.player or spot_actions != legal:
            raise GameError(
                f"the spot has the actions {spot_actions} after {table.line!r} but the rules have {legal}; choose other sizes"
            )

    def _chunk(self, node: int, table: BettingState, street: int, boards: Ints, reaches: Ranges) -> None:
        """Solve the street at a node on a chunk of boards, then its ends and the streets below them."""
        hands, count = len(self.game.hands), reaches[0].shape[1]
        flat = tuple(reach.reshape(-1, hands) for reach in reaches)
        alive = np.flatnonzero(flat[0].any(axis=1) | flat[1].any(axis=1))
        if not len(alive):
            return
        owners = np.repeat(boards, count)[alive]
        cards = [self.compiled.boards[street][board].cards for board in owners]
        alive_reach = tuple(reach[alive] for reach in flat)
        subgame = StreetSubgame.of(self.game, self.cards, table, cards, alive_reach)
        settings = self.settings
        search = begin_search(subgame, METHODS[settings.method], self.leaf, None, settings.iterations, settings.warm)
        if self.drawn:
            stops = self._stops(len(boards), count)[alive]
            policies = run_stopping(search, self.settings.iterations, np.arange(len(alive)), stops).policies
        else:
            search.run(settings.iterations - search.iteration)
            average = search.average_policy()
            policies = [subgame.block(average, number) for number in range(len(subgame.betting.decisions))]
        self.searched += len(alive)
        self.watch(self.searched)
        played, arrived = played_through(subgame, policies, alive_reach)
        ends = self._ends(subgame, node, street, owners, played)
        for number, end in enumerate(subgame.betting.ends):
            following = self.game.rules.dealt(end.table, self.game.rules.format.board_sizes[street + 1])
            children = np.concatenate([np.array(self.compiled.boards[street][board].children, np.int64) for board in boards])
            whole = [np.zeros((len(boards) * count, hands)) for _ in (0, 1)]
            for reach, reached in zip(whole, arrived, strict=True):
                reach[alive] = reached[number]
            parent = np.searchsorted(boards, [self.compiled.boards[street + 1][child].parent for child in children])
            free = np.stack([self._free(self.compiled.boards[street + 1][child].cards) for child in children])
            below = tuple(reach.reshape(len(boards), count, hands)[parent] * free[:, None] for reach in whole)
            self.street(ends[number], following, street + 1, children, below)

    def _free(self, cards: tuple[int, ...]) -> Floats:
        """1 for hands without these cards, else 0."""
        return np.asarray(~np.isin(self.game.hands, cards).any(axis=1), np.float64)

    def _stops(self, boards: int, count: int) -> Ints:
        """Random iterations for every playthrough of each board, stratified over playthroughs, int64 [boards * count]."""
        weights = average_weights(self.settings.method, self.settings.iterations)
        cumulative = np.cumsum(weights) / weights.sum()
        strata = np.stack([self.generator.permutation(count) for _ in range(boards)]) + self.generator.random((boards, count))
        drawn = np.searchsorted(cumulative, strata.ravel() / count, side="right")
        return np.minimum(drawn, self.settings.iterations - 1) + 1

    def _ends(self, subgame: StreetSubgame, node: int, street: int, owners: Ints, played: list[Floats]) -> dict[int, int]:
        """Store the policies played at a street's decisions; returns the compiled game's nodes after each end of the street."""
        game, ends = self.compiled, dict[int, int]()
        waiting = [(0, node)]
        while waiting:
            number, compiled_node = waiting.pop()
            decision, event = subgame.betting.decisions[number], game.betting.nodes[compiled_node]
            assert isinstance(event, Decision)
            self.match(compiled_node, decision.table)
            self._store(street, compiled_node, owners, decision.player, played[number])
            for (kind, after), child in zip(decision.after, event.children, strict=True):
                if kind == "decision":
                    waiting.append((after, child))
                elif kind == "end":
                    following = game.betting.nodes[child]
                    assert isinstance(following, StreetEnd)
                    ends[after] = following.child
        return ends

    def _store(self, street: int, node: int, owners: Ints, player: int, played: Floats) -> None:
        """Add the player's reach times its policy at a decision, [A, N, H], to the average."""
        game, forest = self.compiled, self.compiled.forests[street]
        _, first, count = forest.nodes[player][forest.numbers[player].index(node)]
        for board in np.unique(owners):
            hands = game.boards[street][board].hands[player]
            rows = self.average[board_part(game, street, int(board), player)].reshape(-1, len(hands))
            rows[first : first + count] += played[:, owners == board].sum(axis=1)[:, hands]


def compiled_whole(game: PublicHoldem) -> CompiledSpot:
    """The game with all boards, for evaluation.

    Raises:
        GameError, SpecError: as in :func:`whole_spot` and :func:`treeplex.holdem.forms.compile_spot.compile_spot`.
    """
    return compile_spot(whole_spot(game))


def searched_strategy(
    game: PublicHoldem,
    leaf: LeafValue,
    settings: PlaythroughSettings,
    generator: np.random.Generator,
    compiled: CompiledSpot,
    *,
    drawn: bool = True,
    watch: Callable[[int], None] = lambda searched: None,
) -> Floats:
    """The joint policy of N playthroughs, unnormalised, float64 [Q] in the compiled spot's layout.

    In each playthrough every street is searched from the beliefs that the playthrough's own policies lead to, on every
    board, and a random iteration is played to the street's end, as in
    :func:`treeplex.search.play_distribution.playthrough_policy`.

    Args:
        game: the game.
        leaf: values at the ends of streets.
        settings: method, T, N, and the number of rows searched in parallel.
        generator: random generator for iterations.
        compiled: the result of :func:`compiled_whole`.
        drawn: whether random iterations are played; if not, the average policy of each search is played.
        watch: called with the number of rows searched so far.

    Raises:
        GameError: the game has rake, or actions that the spot lacks.
    """
    hands = len(game.hands)
    count = settings.playthroughs if drawn else 1
    searcher = Searcher(game, Cards(game), compiled, leaf, settings, generator, np.zeros(compiled.stored), watch, drawn)
    reaches = np.ones((1, count, hands)), np.ones((1, count, hands))
    searcher.street(0, game.rules.betting.root, 0, np.zeros(1, np.int64), reaches)
    return searcher.average


def judge_whole(compiled: CompiledSpot, average: Floats, *, threads: int = 1) -> Judgement:
    """Exploitability, in chips per hand, of a strategy in the compiled spot's layout."""
    none = np.zeros(0)
    return judge_spot(compiled, average, store_with(none, none, average), judging_crew(compiled, threads), expected=False)
