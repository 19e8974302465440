"""ReBeL's self-play on hold'em turns (Brown et al. 2020, algorithm 1): searches a turn, and solves the rivers below it exactly.

A game consists of a turn and a river. The turn is searched with a network at the end of its betting. The river's subgame
extends to the end of the game, so it is solved exactly and gives the network's training rows. Several rivers are drawn per
search, each with a new random iteration, betting line and card.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import SpecError
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit, StreetSizes
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.rules.public import HoldemGame, holdem_state
from treeplex.holdem.search.leaves.binned_rivers import SINGLE, RiverBins
from treeplex.holdem.search.subgames.subgame import HoldemSubgame, cut_spot
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import torch_device
from treeplex.learn.common.fitting import Loss
from treeplex.learn.rebel.nets import policy_loss
from treeplex.learn.rebel.play import Play, Rows
from treeplex.learn.rebel.policy_encoding import PolicyRows, no_policies
from treeplex.learn.rebel.random_beliefs import split
from treeplex.learn.rebel.settings import HoldemRebelSettings, HoldemSelfPlaySettings
from treeplex.learn.rebel.turns.policies import examples_of, inputs_of
from treeplex.learn.rebel.turns.river_net import river_loss
from treeplex.learn.rebel.turns.river_targets import River
from treeplex.learn.rebel.turns.tensor_rivers import solved_rivers
from treeplex.learn.torch.search import check_method
from treeplex.learn.torch.turns import TurnSearch
from treeplex.search import METHODS
from treeplex.search.leaf import LeafValue
from treeplex.search.stopping import training_iterations
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.warm_start.begin import begin_search, guess_of
from treeplex.solvers.rules.fictitious import FictitiousRule

TRIES = 100
"""Maximum number of consecutive playthroughs of a turn that end in a fold or all-in instead of reaching a river."""


def drawn_game(spot: Spot, settings: HoldemSelfPlaySettings, generator: np.random.Generator) -> Spot:
    """Sample a spot with a random board, stack and bet sizes.

    Raises:
        SpecError: the smallest stack leaves no chips for betting.
    """
    board = spot.board
    if settings.boards:
        board = tuple(int(card) for card in generator.choice(spot.format.deck, len(spot.board), replace=False))
    most = generator.uniform(*settings.stacks) - spot.pot / 2
    stack = max(round(most / spot.chip), 0) * spot.chip
    ones = np.ones(len(spot.format.hands))
    return replace(
        spot, board=board, stack=stack, bets=perturbed_sizes(spot.bets, settings.perturbed, generator), ranges=(ones, ones)
    )


def perturbed_sizes(bets: BetPlan | FixedLimit, most: float, generator: np.random.Generator) -> BetPlan | FixedLimit:
    """Randomly perturb a plan's pot-fraction sizes by up to ``most``; equal sizes remain equal."""
    if isinstance(bets, FixedLimit) or not most:
        return bets
    by: dict[tuple[str, float], float] = {}

    def changed(sizes: StreetSizes) -> StreetSizes:
        shifts = {}
        for name in ("bets", "raises"):
            row = []
            for size in getattr(sizes, name):
                if size.kind == "pot":
                    key = name, size.value
                    if key not in by:
                        by[key] = generator.uniform(-most, most)
                    size = replace(size, value=max(size.value + by[key], 0.01))
                row.append(size)
            shifts[name] = tuple(row)
        return replace(sizes, **shifts)

    return replace(bets, streets=tuple((changed(first), changed(second)) for first, second in bets.streets))


def river_spot(belief: Belief) -> Spot:
    """The subgame at a river's public belief state, as a spot with all hands in both ranges."""
    game = belief.game
    assert isinstance(game, HoldemGame)
    return game.rest(belief.state, game.spot.ranges).spot


class HoldemSelfPlay(Play):
    """Samples, searches and solves games one by one; each row is a river, in float16 for single hands.

    Attributes:
        spot: the turn that games are modelled on.
        examples: policy rows from the last turn searched, if a policy network is trained.
    """

    burns_rows = True

    def __init__(self, spot: Spot, settings: HoldemRebelSettings, leaf: LeafValue, generator: np.random.Generator) -> None:
        """Start self-play.

        Raises:
            SpecError: the spot is not a turn, the smallest stack leaves no chips for betting, or the device is missing or does
                not support the method.
        """
        if len(spot.streets) != 2:
            raise SpecError(f"the spot has {len(spot.streets)} streets of betting, not 2; give a turn board")
        if settings.stacks[0] - spot.pot / 2 < spot.chip:
            raise SpecError(f"stacks must be more than {spot.pot / 2:g} chips, half of the pot, not {settings.stacks[0]:g}")
        super().__init__(spot, settings, leaf, generator)
        self.spot = spot
        self._device = torch_device(settings.device)
        if self._device is not None:
            check_method(METHODS[settings.method], predicts=False)
        self.examples: PolicyRows | None = None

    @property
    def empty(self) -> Rows:  # type: ignore[override]
        inputs, outputs = self.settings.sizes(self.spot)
        kind, policies = np.float16 if self.settings.hands else np.float32, None
        if (guess := guess_of(self.leaf)) is not None:
            policies = no_policies(inputs_of(self.spot), len(self.spot.format.hands), guess.columns)
        none = np.zeros((0, outputs), kind)
        return Rows(np.zeros((0, inputs), kind), none, none, policies)

    @property
    def losses(self) -> tuple[Loss, Loss]:  # type: ignore[override]
        return river_loss, policy_loss

    def solved_in(self, rows: Rows) -> int:
        return 1

    def advance(self) -> Rows:
        """Training rows from one more game; empty if all its betting lines end in folds and all-ins."""
        rows, empty = [river.row() for river in self.rivers()], self.empty
        columns = zip(*rows, strict=True) if rows else empty.values.values()
        inputs, targets, weights = (np.asarray(part, empty.inputs.dtype) for part in columns)
        return Rows(inputs, targets, weights, self.examples)

    def rivers(self) -> list[River]:
        """Sample one more game and solve its rivers."""
        self.solved += 1
        self.examples = None
        spot, settings = drawn_game(self.spot, self.settings, self.generator), self.settings
        beliefs = self._searched(spot) if settings.source == "self-play" else self._random(spot)
        requests = [(river_spot(belief), (belief.ranges[0], belief.ranges[1])) for belief in beliefs if belief]
        iterations, bins, shown = settings.river_iterations, SINGLE if settings.hands else settings.bins, settings.shown
        if self._device is not None:
            return solved_rivers(requests, iterations, bins, device=self._device, shown=shown)
        return [River.solved(river, ranges, iterations, bins, shown=shown) for river, ranges in requests]

    def _searched(self, spot: Spot) -> Iterator[Belief | None]:
        """Public belief states of rivers, reached by searching the turn."""
        turn, settings = cut_spot(spot), self.settings
        if not len(turn.open_ends):
            return
        method = METHODS[settings.method]
        search = begin_search(turn, method, self.leaf, None, settings.iterations)
        draw, begin = settings.draw, max(search.iteration, 1 if settings.draw == "uniform" else 0)
        runner = search if self._device is None else TurnSearch(search, device=self._device)
        stops = training_iterations(draw, settings.method, settings.iterations, settings.rivers, self.generator, first=begin)
        for stop in np.sort(stops):
            runner.run(int(stop) - search.iteration)
            played, believed = played_and_believed(search)
            end, card = self._play(turn, played)
            arrived = search.arrays.reach_at_leaves(believed)
            yield self._river(turn.game, turn.nodes[end], card, [reach[end] for reach in arrived])
        if (guess := guess_of(self.leaf)) is not None:
            runner.run(settings.iterations - search.iteration)
            self.examples = examples_of(search, guess.columns)

    def _random(self, spot: Spot) -> Iterator[Belief | None]:
        """Public belief states of rivers after the turn's betting, with random ranges."""
        game = HoldemGame.of(spot)
        ends = [number for number, node in enumerate(game.tree.nodes) if isinstance(node, StreetEnd)]
        for _ in range(self.settings.rivers if ends else 0):
            card = int(self.generator.choice(spot.format.cards_left(spot.board)))
            board = RiverBins.of(spot.format, ((*spot.board, card),), 2)
            draw = random_range if self.settings.source == "random" else flat_range
            ranges = draw(board, self.generator), draw(board, self.generator)
            yield self._river(game, int(self.generator.choice(ends)), card, ranges)

    def _river(self, game: HoldemGame, node: int, card: int, ranges: Sequence[Floats]) -> Belief | None:
        """The public belief state after a street ends and a card is dealt; None if no pair of hands is compatible."""
        belief = Belief.of(game, game.after(game.state(node, game.spot.board), card), ranges)
        return belief if belief.pairs > 0 else None

    def _play(self, turn: HoldemSubgame, source: Floats) -> tuple[int, int]:
        """Play a policy from the root; returns the index of the betting end reached, and the river card. After :data:`TRIES`
        playthroughs without a river both are drawn uniformly."""
        game, generator, policies = turn.game, self.generator, {}
        root = Belief.root(game)
        deck = game.spot.format.cards_left(game.spot.board)
        for _ in range(TRIES):
            hands, explorer, state = root.draw(generator), int(generator.integers(2)), game.first_state()
            while isinstance(event := game.event(state), Decision):
                count = len(event.actions)
                if event.player == explorer and generator.random() < self.settings.exploration:
                    action = int(generator.integers(count))
                else:
                    if state not in policies:
                        policies[state] = turn.policy_at(state.node, source).cumsum(axis=0)
                    action = int((policies[state][:-1, hands[event.player]] <= generator.random()).sum())
                state = holdem_state(game.after(state, action))
            if isinstance(event, StreetEnd):
                held = game.spot.format.hands[list(hands)]
                return turn.nodes.index(state.node), int(generator.choice([card for card in deck if card not in held]))
        return int(generator.integers(len(turn.nodes))), int(generator.choice(deck))


def played_and_believed(search: SubgameSearch) -> tuple[Floats, Floats]:
    """The policy that self-play follows after a search's last iteration, and the policy that updates beliefs, float64 [Q] each.

    In CFR-D both are the current policy, in fictitious play the average. In CFR-AVG the current policy is played, and beliefs
    are updated by the average including it (section 5.2).
    """
    if isinstance(search.method.scheme, FictitiousRule):
        return search.average, search.average
    return search.strategy, search.strategy if search.method.leaves == "current" else search.next_average()


def random_range(board: RiverBins, generator: np.random.Generator) -> Floats:
    """Sample a range on a river, float64 [H], by recursively splitting hands sorted by strength, with ties in random order."""
    order = board.order[0][np.lexsort((generator.random(board.order.shape[1]), board.start[0]))]
    drawn = np.zeros(len(board.format.hands))
    drawn[order] = split(len(order), generator)
    return drawn


def flat_range(board: RiverBins, generator: np.random.Generator) -> Floats:
    """Sample a range on a river, float64 [H], from a flat Dirichlet distribution."""
    drawn = np.zeros(len(board.format.hands))
    drawn[board.order[0]] = generator.dirichlet(np.ones(board.order.shape[1]))
    return drawn
