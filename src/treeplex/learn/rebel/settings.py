"""Settings for training ReBeL, without the game: self-play, search, networks and gradient steps; the paper's settings are a
preset.

The paper's settings are :data:`PAPER` and, for card games, :data:`PAPER_CARDS`. The defaults are a recipe that reaches the same
quality at a small fraction of the cost: Discounted CFR with few iterations, a narrow network that outputs both players' values
at once, subgames in lockstep, many passes over the rows, and a step size that falls to almost zero.
"""

from dataclasses import dataclass, replace

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.holdem.rules.features import features_of_board
from treeplex.holdem.spots.spot import Spot
from treeplex.learn.common.device import DEVICES
from treeplex.learn.common.settings import LearningSettings
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.settings import DRAWS, PASSED_ON, SearchSettings

SOURCES = ("self-play", "random")
"""Sources of public belief states: self-play by search, or random ones."""
TARGETS = ("search", "rewards")
"""Value targets: root values of searches, or payoffs of episodes."""
VALUE_LOSSES = ("huber", "squared")
POLICY_LOSSES = ("squared", "cross-entropy")
"""Losses of policy networks; the first is the paper's (section 7)."""
RIVER_SOURCES = ("self-play", "random", "flat")
MOST_BINS = 1024
"""Maximum number of bins; rivers rarely have more distinct hand strengths."""


@dataclass(frozen=True)
class PlaySettings(Settings):
    """Settings shared by all types of self-play: searching a subgame, and sampling the next one."""

    method: str = setting("dcfr", "solver of subgames", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(64, "iterations per search, T; both players update in each", low=1)
    exploration: float = setting(
        0.25, "probability that the exploring player, who is drawn for each subgame, acts uniformly at random", low=0, high=1
    )
    source: str = setting("self-play", "source of public belief states (random for comparison)", choices=SOURCES, added=True)
    draw: str = setting(
        "uniform",
        "distribution of the iteration to play (average: weighted as in the average policy)",
        choices=DRAWS,
        added=True,
    )
    device: str = setting(
        "cpu",
        "device for subgames and gradient steps: cuda is a GPU, auto is cuda if available, "
        "torch-cpu runs the GPU code on the CPU",
        choices=DEVICES,
        added=True,
    )
    policy_net: bool = setting(False, "train a policy network too, which warm-starts searches", fixed=True, added=True)
    warm: int = setting(
        15,
        "iterations that a warm start from the policy network counts as (0: no warm starts, although the network is trained)",
        low=0,
        added=True,
    )

    def check(self) -> None:
        """Check that a warm start counts as fewer iterations than a search runs."""
        super().check()
        if self.policy_net and self.warm >= self.iterations:
            raise SpecError(
                f"warm is {self.warm!r}; it must be below iterations ({self.iterations}), since it counts toward them"
            )


@dataclass(frozen=True)
class EpisodeSettings(PlaySettings):
    """Settings for concurrent episodes and their public belief states."""

    episodes: int = setting(64, "games played concurrently", low=1, fixed=True)
    passed_on: str = setting(
        "iteration",
        "beliefs passed on by CFR-AVG: of the drawn iteration, or of the average up to it, as in the paper",
        choices=PASSED_ON,
        added=True,
    )


@dataclass(frozen=True)
class NetworkSettings(LearningSettings):
    """Settings for networks and streams of self-play."""

    streams: int | None = setting(
        None,
        "streams of self-play for workers, each with its own random numbers (none: two per worker, one without workers)",
        low=1,
        fixed=True,
        added=True,
    )


@dataclass(frozen=True)
class SolvesSettings(NetworkSettings):
    """Length of training in subgames, and the rows to keep."""

    burn_in: int = setting(1024, "subgames, not rows, before the first gradient step", low=1)
    solves: int = setting(60_000, "total number of subgames to solve, over which the step size decays", low=1)
    fresh: float = setting(
        0.5, "fraction of all rows to keep, the newest ones, since early rows come from an untrained network", above=0, high=1
    )
    seconds: float | None = setting(None, "training time, in place of a number of subgames (solves)", above=0, added=True)

    @property
    def length(self) -> int:
        """Total number of subgames to solve."""
        return self.solves


@dataclass(frozen=True)
class SelfPlaySettings(SearchSettings, EpisodeSettings):
    """Settings for episodes on public trees.

    With ``source="random"``, actions are uniformly random, and at the start of every subgame, including the root, both ranges
    are drawn by :func:`treeplex.learn.rebel.random_beliefs.random_belief`.
    """

    iterations: int = 64
    targets: str = setting(
        "search",
        "value targets: root values of searches, or rewards, the episodes' payoffs",
        choices=TARGETS,
        added=True,
    )


@dataclass(frozen=True)
class RebelSettings(SolvesSettings, SelfPlaySettings):
    """Training settings, without the game.

    An iteration updates both players; the paper's T counts updates of one player, and is therefore twice as large.
    """

    value_loss: str = setting(
        "huber",
        "loss of the value network: Huber, or squared errors (always for rewards)",
        choices=VALUE_LOSSES,
        fixed=True,
        added=True,
    )
    policy_loss: str = setting(
        "squared",
        "loss of the policy network: squared errors of probabilities, or cross entropy",
        choices=POLICY_LOSSES,
        fixed=True,
        added=True,
    )
    net: str | None = setting(
        None,
        "custom value network, file.py:NAME of a function of inputs and outputs that returns a "
        "PyTorch module (none: linear layers with layer norm and GeLU)",
        fixed=True,
        added=True,
    )

    def check(self) -> None:
        """Check that hands are drawn from the beliefs if targets are rewards."""
        super().check()
        if self.targets == "rewards" and (self.source == "random" or self.passed_on == "average"):
            raise SpecError(
                "targets=rewards needs hands played along with the beliefs; set source=self-play and passed_on=iteration"
            )


RECIPE_ROUNDS = RebelSettings(depth=0, rounds=True, iterations=256, reuse=128.0, solves=150_000)
"""The recipe for games of several betting rounds: subgames end with the round, so that the network is evaluated at few public
states, and the last round is solved to the end. In Leduc poker this reaches in a few minutes less than a tenth of the
exploitability of subgames of two actions."""
PAPER = RebelSettings(
    method="lcfr",
    iterations=512,
    solves=3_264_000,
    width=256,
    rows=1_000_000,
    fresh=1.0,
    burn_in=512,
    reuse=8.0,
    rate=3e-4,
    halve=0.392,
)
"""Liar's Dice in appendix E, completed by the released configuration: 1,020 epochs of 50 steps and 3,200 subgames, 1,024
updates per solve, the step size halved after 400 and 800 epochs, iterations drawn uniformly where algorithm 2 draws them
linearly (``draw=average``). A row has both players' values, so half as many rows cover the same past, and 512 subgames are
1,024 rows of a player."""
PAPER_CARDS = replace(
    PAPER,
    method="lcfr-avg-modified",
    depth=0,
    rounds=True,
    draw="average",
    passed_on="average",
    policy_net=True,
    solves=96_000_000,
    width=1536,
    layers=6,
    rows=6_000_000,
    fresh=0.5,
    batch=1024,
    rate=4e-4,
    halve=1 / 3,
)
"""Turn endgame hold'em in appendix E: 300 epochs of 2,560,000 examples, the step size halved every 100. Subgames end with
betting rounds, iterations are drawn as in algorithm 2, and beliefs continue with the average's (section 5.2). The paper does
not give the number of subgames or T; here rows are used as often as in Liar's Dice, and T is the same. The paper drops half
of the data after 20 epochs; here the newer half of all rows so far is kept."""


@dataclass(frozen=True)
class HandSettings(PlaySettings):
    """Settings for sampling and valuing hold'em hands."""

    perturbed: float = setting(0.0, "random change of bet sizes in each hand, as a fraction of the pot", low=0)
    shown: bool = setting(
        True,
        "predict hand values relative to the showdown value, which is added exactly (false: predict full values)",
        fixed=True,
        added=True,
    )

    def check(self) -> None:
        """Check that the smallest stack does not exceed the largest."""
        super().check()
        stacks = getattr(self, "stacks", None)
        if stacks is not None and stacks[0] > stacks[1]:
            raise SpecError(f"stacks must be the smallest and the largest stack in chips, not {stacks!r}")


@dataclass(frozen=True)
class HoldemSelfPlaySettings(HandSettings):
    """Settings for sampling and searching turns, and for solving rivers.

    ``source``: ``self-play``; or public belief states with random ranges, drawn as in DeepStack (``random``) or uniformly among
    all ranges (``flat``). With ``draw="uniform"`` the initial policy of a search is never drawn.
    """

    method: str = "lcfr"
    iterations: int = 32
    source: str = setting(
        "self-play", "source of public belief states (random and flat ranges for comparison)", choices=RIVER_SOURCES
    )
    rivers: int = setting(32, "rivers solved per search", low=1)
    river_iterations: int = setting(64, "Discounted CFR iterations per river", low=1)
    stacks: tuple[float, float] = setting(
        (5_000.0, 50_000.0), "smallest and largest stack in chips, including half of the initial pot", above=0
    )
    perturbed: float = 0.1
    boards: bool = setting(True, "draw a new turn board for each game")


@dataclass(frozen=True)
class HoldemRebelSettings(NetworkSettings, HoldemSelfPlaySettings):
    """Settings for training on turns, without the spot that its games are modelled on."""

    games: int = setting(1000, "total number of turns to draw, over which the step size decays", low=1)
    bins: int = setting(
        64, "number of strength bins with which the network represents a range", low=2, high=MOST_BINS, fixed=True
    )
    hands: bool = setting(False, "use single hands and the board as network inputs, in place of bins", fixed=True, added=True)
    width: int = 256
    layers: int = 3
    rows: int = 200_000
    burn_in: int = setting(256, "rows, not games, before the first gradient step", low=1)
    batch: int = 256
    reuse: float = 96.0

    def check(self) -> None:
        """Check that ``burn_in`` does not exceed the buffer's capacity."""
        super().check()
        if self.burn_in > self.rows:
            raise SpecError(
                f"burn_in is {self.burn_in!r}, above rows ({self.rows}), so learning would never start; lower burn_in"
            )
        if self.policy_net and not self.hands:
            raise SpecError("policy_net=true needs hands=true, since a policy network uses single hands")

    def sizes(self, spot: Spot) -> tuple[int, int]:
        """Numbers of inputs and outputs of the river network for games modelled on a spot."""
        knots = len(spot.format.hands) if self.hands else self.bins
        board = len(features_of_board(spot.format, spot.board)) if self.hands else 0
        return 1 + 2 * knots + board, 2 * knots

    @property
    def length(self) -> int:
        """Total number of games to draw."""
        return self.games


@dataclass(frozen=True)
class WholeSelfPlaySettings(HandSettings, EpisodeSettings):
    """Settings for playing full hands: a subgame is one street of betting, after its cards are dealt."""

    boards: int = setting(
        8,
        "boards per street averaged for the value before its cards are dealt, including the dealt board (0: all, up "
        "to suit isomorphism)",
        low=0,
    )
    rivers: int = setting(
        1,
        "rivers solved after each turn played, including the dealt one; the others give exact training values",
        low=1,
        added=True,
    )
    stacks: tuple[int, int] | None = setting(
        None, "smallest and largest stack in chips, drawn for each hand (none: the game's stacks)", low=1
    )


@dataclass(frozen=True)
class WholeRebelSettings(SolvesSettings, WholeSelfPlaySettings):
    """Settings for training on full-game hold'em, without the game."""

    width: int = 256
    reuse: float = 256.0
    solves: int = 30_000
    bins: int = setting(
        0,
        "number of strength bins for ranges and values, for decks with many hands (0: single hands)",
        low=0,
        fixed=True,
        added=True,
    )
    device: str = setting(
        "cpu",
        "device for gradient steps: cuda is a GPU, auto is cuda if available; streets are searched on the CPU",
        choices=DEVICES,
        added=True,
    )

    def check(self) -> None:
        """Reject a single bin."""
        super().check()
        if self.bins == 1:
            raise SpecError("bins is 1; give at least 2, or 0 for single hands")


PAPER_TURNS = HoldemRebelSettings(
    method="lcfr-avg-modified",
    draw="average",
    hands=True,
    shown=False,
    policy_net=True,
    width=1536,
    layers=6,
    rows=6_000_000,
    batch=1024,
    rate=4e-4,
    halve=1 / 3,
)
"""The paper's settings for turn endgame hold'em: its method (figure 2, appendix I), iterations drawn as in algorithm 2, single
hands with full values, a policy network, networks and steps of appendix E, where a row has both players' values. The paper
does not give the numbers of games and iterations or how often a row is used; these are defaults here, and must be raised
(``games``) for its 750,000 steps."""
PAPER_WHOLE = WholeRebelSettings(
    method="lcfr-avg-modified",
    iterations=512,
    boards=1,
    draw="average",
    passed_on="average",
    perturbed=0.1,
    shown=False,
    policy_net=True,
    solves=560_000_000,
    width=1536,
    layers=6,
    rows=6_000_000,
    batch=1024,
    reuse=8.0,
    rate=3e-4,
    halve=800 / 1750,
)
"""Heads-up no-limit hold'em in appendix E: 1,750 epochs of 2,560,000 examples, the step size halved every 800, networks of six
layers over single hands; iterations are drawn as in algorithm 2, and beliefs follow the average's (section 5.2). The paper
does not give T or how often a row is used; here they are those of Liar's Dice. Stacks of 50 to 250 big blinds (appendix C.1)
depend on the game's blinds."""
