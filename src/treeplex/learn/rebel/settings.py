"""Everything that decides a ReBeL training but the game: self-play, search, networks and steps; the paper's as presets.

The paper's settings are :data:`PAPER` and, for games of cards, :data:`PAPER_CARDS`. The defaults are a recipe that reaches the
same quality with a small part of the work: Discounted CFR of few iterations, a narrow network that gives both players' values
at once, subgames in lockstep, many passes over the rows, and a step size that falls to almost nothing at the end.
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
"""Targets of values: the root values of searches, or the payoffs of episodes."""
VALUE_LOSSES = ("huber", "squared")
POLICY_LOSSES = ("squared", "cross-entropy")
"""Losses of policy networks; the first is the paper's (section 7)."""
RIVER_SOURCES = ("self-play", "random", "flat")
MOST_BINS = 1024
"""Hands of a river have hardly more strengths."""


@dataclass(frozen=True)
class PlaySettings(Settings):
    """How self-play of every kind searches a subgame and plays on from it."""

    method: str = setting("dcfr", "how subgames are solved", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(64, "iterations of each search, T; both players update in each", low=1)
    exploration: float = setting(
        0.25, "probability with which the exploring player, drawn anew in each subgame, plays uniformly", low=0, high=1
    )
    source: str = setting(
        "self-play", "where public belief states come from; random: for comparison", choices=SOURCES, added=True
    )
    draw: str = setting(
        "uniform", "how the iteration played on is drawn; average: weighted as in the average policy", choices=DRAWS, added=True
    )
    device: str = setting(
        "cpu",
        "where subgames are solved and steps taken: cuda is a graphics card, auto cuda where there is one, torch-cpu as on a "
        "card, to try it",
        choices=DEVICES,
        added=True,
    )
    policy_net: bool = setting(
        False, "whether a second network learns policies, from which searches start", fixed=True, added=True
    )
    warm: int = setting(
        15, "iterations that a start from the policy network counts as; 0: trained, but not used", low=0, added=True
    )

    def check(self) -> None:
        """Refuse searches that would end before they begin."""
        super().check()
        if self.policy_net and self.warm >= self.iterations:
            raise SpecError(
                f"warm must be less than iterations, {self.iterations}, not {self.warm!r}; a search begins after it"
            )


@dataclass(frozen=True)
class EpisodeSettings(PlaySettings):
    """How episodes are played side by side, each from one public belief state to the next."""

    episodes: int = setting(64, "games played side by side", low=1, fixed=True)
    passed_on: str = setting(
        "iteration",
        "in CFR-AVG, whose policy beliefs go on with: the drawn iteration's, or the average's up to it, as in the paper",
        choices=PASSED_ON,
        added=True,
    )


@dataclass(frozen=True)
class NetworkSettings(LearningSettings):
    """Networks, and the streams of self-play from which they learn."""

    streams: int | None = setting(
        None,
        "batches of games, each with random numbers of its own, that workers play; none: two per worker, one without",
        low=1,
        fixed=True,
        added=True,
    )


@dataclass(frozen=True)
class SolvesSettings(NetworkSettings):
    """How long episodes are played, and which of their rows are kept."""

    burn_in: int = setting(1024, "subgames, not rows, before the first step", low=1)
    solves: int = setting(60_000, "subgames to solve in total; the step size falls over them", low=1)
    fresh: float = setting(0.5, "the newest part of all rows that is kept; early rows are from a bad network", above=0, high=1)
    seconds: float | None = setting(
        None, "time over which it trains, in place of so many subgames (solves)", above=0, added=True
    )

    @property
    def length(self) -> int:
        """Subgames to be solved."""
        return self.solves


@dataclass(frozen=True)
class SelfPlaySettings(SearchSettings, EpisodeSettings):
    """How episodes of public trees are played.

    ``source="random"``: episodes go down as uniform play takes them, and wherever a subgame begins, the root included, both
    ranges are drawn by :func:`treeplex.learn.rebel.random_beliefs.random_belief`.
    """

    iterations: int = 64
    targets: str = setting(
        "search",
        "what values are learned from: those that searches find at their roots, or rewards, what the episode paid in the end",
        choices=TARGETS,
        added=True,
    )


@dataclass(frozen=True)
class RebelSettings(SolvesSettings, SelfPlaySettings):
    """Everything that decides a training, but the game.

    An iteration updates both players; the paper's T counts updates of one player, twice as many.
    """

    value_loss: str = setting(
        "huber",
        "what falls in the value network: the Huber loss, or squared errors",
        choices=VALUE_LOSSES,
        fixed=True,
        added=True,
    )
    policy_loss: str = setting(
        "squared",
        "what falls in the policy network: squared errors of probabilities, or cross entropy",
        choices=POLICY_LOSSES,
        fixed=True,
        added=True,
    )
    net: str | None = setting(
        None,
        "value network of one's own, file.py:NAME of a function of inputs and outputs that makes a PyTorch module; none: "
        "linear layers with layer norm and GeLU",
        fixed=True,
        added=True,
    )

    def check(self) -> None:
        """Refuse rewards of hands that beliefs do not follow."""
        super().check()
        if self.targets == "rewards" and (self.source == "random" or self.passed_on == "average"):
            raise SpecError("targets=rewards needs hands that follow the beliefs: source=self-play and passed_on=iteration")


RECIPE_ROUNDS = RebelSettings(depth=0, rounds=True, iterations=256, reuse=128.0, solves=150_000)
"""The recipe for games of several betting rounds: subgames end with these, so that the network is asked at few places, and
what follows the last of them is solved to the end. In Leduc poker a few minutes come to less than a tenth of what two actions
a subgame come to."""
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
"""Liar's Dice in appendix E, with what the released configuration adds: 1,020 epochs of 50 steps and 3,200 subgames, 1,024
updates per solve, the step size halved after 400 and 800 epochs, iterations drawn uniformly where algorithm 2 draws them
linearly (``draw=average``). A row is both players' values, so half as many rows are as much
of the past, and 512 subgames are 1,024 rows of a player."""
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
"""Turn endgame hold'em in appendix E: 300 epochs of 2,560,000 examples, the step size halved every 100. Subgames end
with betting rounds, iterations are drawn as in algorithm 2, and beliefs continue with the average's (section 5.2). How many
subgames there are and T it does not say; here rows are seen as often as in Liar's Dice, and T is the same. Half of the data
go after 20 epochs there; here, of all rows so far the newer half is kept."""


@dataclass(frozen=True)
class HandSettings(PlaySettings):
    """How hands of hold'em are drawn and valued."""

    perturbed: float = setting(0.0, "parts of the pot by which bet sizes are moved, anew for each hand", low=0)
    shown: bool = setting(
        True,
        "whether networks say what hands are worth over the showdown, which is added exactly; false: all they are worth",
        fixed=True,
        added=True,
    )

    def check(self) -> None:
        """Refuse a least stack above the greatest."""
        super().check()
        stacks = getattr(self, "stacks", None)
        if stacks is not None and stacks[0] > stacks[1]:
            raise SpecError(f"stacks must be the least and the most chips of a player, not {stacks!r}")


@dataclass(frozen=True)
class HoldemSelfPlaySettings(HandSettings):
    """How turns are drawn, searched and solved.

    ``source``: ``self-play``; or public belief states not reached by search, with ranges drawn as DeepStack does
    (``random``) or uniformly among all ranges (``flat``). ``draw="uniform"`` leaves out the policy with which a search begins.
    """

    method: str = "lcfr"
    iterations: int = 32
    source: str = setting(
        "self-play", "where public belief states come from; random and flat ranges: for comparison", choices=RIVER_SOURCES
    )
    rivers: int = setting(32, "rivers taken from each search and solved", low=1)
    river_iterations: int = setting(64, "iterations of Discounted CFR in a river's solution", low=1)
    stacks: tuple[float, float] = setting(
        (5_000.0, 50_000.0), "the least and the most chips of a player, half of the first pot included", above=0
    )
    perturbed: float = 0.1
    boards: bool = setting(True, "whether the turn's board is drawn anew for each game")


@dataclass(frozen=True)
class HoldemRebelSettings(NetworkSettings, HoldemSelfPlaySettings):
    """Everything that decides a training, but the spot on which games are modelled."""

    games: int = setting(1000, "turns to draw in total; the step size falls over them", low=1)
    bins: int = setting(64, "bins of strength, what the network sees of a range", low=2, high=MOST_BINS, fixed=True)
    hands: bool = setting(
        False, "whether the network sees and values single hands, and sees the board, in place of bins", fixed=True, added=True
    )
    width: int = 256
    layers: int = 3
    rows: int = 200_000
    burn_in: int = setting(256, "rows, not games, before the first step", low=1)
    batch: int = 256
    reuse: float = 96.0

    def check(self) -> None:
        """Refuse a buffer in which there are never rows enough."""
        super().check()
        if self.burn_in > self.rows:
            raise SpecError(f"burn_in must be at most rows, {self.rows}, not {self.burn_in!r}; learning would never begin")
        if self.policy_net and not self.hands:
            raise SpecError("policy_net=true needs hands=true; a policy network sees single hands")

    def sizes(self, spot: Spot) -> tuple[int, int]:
        """Numbers that the network for rivers takes and gives, on games like a spot."""
        knots = len(spot.format.hands) if self.hands else self.bins
        board = len(features_of_board(spot.format, spot.board)) if self.hands else 0
        return 1 + 2 * knots + board, 2 * knots

    @property
    def length(self) -> int:
        """Games to be drawn."""
        return self.games


@dataclass(frozen=True)
class WholeSelfPlaySettings(HandSettings, EpisodeSettings):
    """How whole hands are played: a subgame is a street of betting, after its cards."""

    boards: int = setting(
        8,
        "boards on which a street is solved for the value before its cards, one of them that which comes; 0: all, up to a "
        "renaming of suits",
        low=0,
    )
    rivers: int = setting(
        1,
        "rivers solved after each turn that is played, the one that comes included; the others teach their values, which no "
        "network takes part in",
        low=1,
        added=True,
    )
    stacks: tuple[int, int] | None = setting(
        None, "the least and the most chips of a player, drawn anew for each hand; none: those of the game", low=1
    )


@dataclass(frozen=True)
class WholeRebelSettings(SolvesSettings, WholeSelfPlaySettings):
    """Everything that decides a training on whole hold'em, but the game."""

    width: int = 256
    reuse: float = 256.0
    solves: int = 30_000
    bins: int = setting(
        0,
        "bins of strength into which ranges and values are gathered, for decks of many hands; 0: single hands",
        low=0,
        fixed=True,
        added=True,
    )
    device: str = setting(
        "cpu",
        "where gradient steps are taken: cuda is a graphics card, auto cuda where there is one; streets are searched by the "
        "processor",
        choices=DEVICES,
        added=True,
    )

    def check(self) -> None:
        """Refuse a single bin."""
        super().check()
        if self.bins == 1:
            raise SpecError("bins must be at least 2, or 0 for single hands, not 1")


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
"""What the paper says of turn endgame hold'em: its method (figure 2, appendix I), iterations drawn as in algorithm 2, single
hands and all that they are worth, a policy network, networks and steps of appendix E, a row being both players' values. How
many games and iterations there are and how often a row is seen it does not say; these are as usual here, and must be raised
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
layers over single hands; iterations are drawn as in algorithm 2, and beliefs follow the average's (section 5.2). T and how
often a row is seen it does not say; here they are those of Liar's Dice. Stacks of 50 to 250 big blinds (appendix C.1)
depend on the game's blinds."""
