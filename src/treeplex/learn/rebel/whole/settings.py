"""Everything that decides a ReBeL training on whole hold'em, but the game."""

from dataclasses import dataclass

from treeplex.base.settings import Settings, setting
from treeplex.errors import SpecError
from treeplex.learn.common.device import DEVICES
from treeplex.learn.common.settings import LearningSettings
from treeplex.learn.rebel.settings import SOURCES
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.settings import DRAWS, PASSED_ON


@dataclass(frozen=True)
class WholeSelfPlaySettings(Settings):
    """How hands are played: a subgame is a street of betting, after its cards."""

    method: str = setting("dcfr", "how streets are solved", choices=METHODS, listed=METHOD_NAMES)
    iterations: int = setting(64, "iterations of each search, T; both players update in each", low=1)
    episodes: int = setting(64, "hands played side by side", low=1, fixed=True)
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
    exploration: float = setting(
        0.25, "probability with which the exploring player, drawn anew on each street, plays uniformly", low=0, high=1
    )
    source: str = setting("self-play", "where public belief states come from; random: for comparison", choices=SOURCES)
    draw: str = setting(
        "uniform", "how the iteration played on is drawn; average: weighted as in the average policy", choices=DRAWS
    )
    passed_on: str = setting(
        "iteration",
        "in CFR-AVG, whose policy beliefs go on with: the drawn iteration's, or the average's up to it, as in the paper",
        choices=PASSED_ON,
    )
    stacks: tuple[int, int] | None = setting(
        None, "the least and the most chips of a player, drawn anew for each hand; none: those of the game", low=1
    )
    perturbed: float = setting(0.0, "parts of the pot by which bet sizes are moved, anew for each hand", low=0)

    def check(self) -> None:
        """Refuse a least stack above the greatest."""
        if self.stacks is not None and self.stacks[0] > self.stacks[1]:
            raise SpecError(f"stacks must be the least and the most chips of a player, not {self.stacks!r}")


@dataclass(frozen=True)
class WholeRebelSettings(LearningSettings, WholeSelfPlaySettings):
    """Everything that decides a training on whole hold'em, but the game."""

    width: int = 256
    reuse: float = 256.0
    burn_in: int = setting(1024, "subgames before the first step", low=1)
    solves: int = setting(30_000, "streets to solve in total; the step size falls over them", low=1)
    fresh: float = setting(0.5, "the newest part of all rows that is kept; early rows are from a bad network", above=0, high=1)
    bins: int = setting(
        0,
        "bins of strength into which ranges and values are gathered, for decks of many hands; 0: single hands",
        low=0,
        fixed=True,
        added=True,
    )
    shown: bool = setting(
        True, "whether values are learned over those of a showdown without further bets", fixed=True, added=True
    )
    device: str = setting(
        "cpu",
        "where gradient steps are taken: cuda is a graphics card, auto cuda where there is one; streets are searched by the "
        "processor",
        choices=DEVICES,
        added=True,
    )
    streams: int | None = setting(
        None,
        "batches of hands, each with random numbers of its own, that workers play; none: two per worker, one without",
        low=1,
        fixed=True,
        added=True,
    )
    policy_net: bool = setting(False, "whether a second network learns policies, from which searches start", fixed=True)
    warm: int = setting(15, "iterations that a start from the policy network counts as; 0: trained, but not used", low=0)
    seconds: float | None = setting(None, "time over which it trains, in place of so many streets (solves)", above=0)

    def check(self) -> None:
        """Refuse searches that would end before they begin."""
        super().check()
        if self.policy_net and self.warm >= self.iterations:
            raise SpecError(
                f"warm must be less than iterations, {self.iterations}, not {self.warm!r}; a search begins after it"
            )
        if self.bins == 1:
            raise SpecError("bins must be at least 2, or 0 for single hands, not 1")

    @property
    def length(self) -> int:
        """Streets to be solved."""
        return self.solves


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
layers over single hands; iterations are drawn as in algorithm 2, and beliefs go on with the average's (section 5.2). T and how
often a row is seen it does not say; here they are those of Liar's Dice. Stacks of 50 to 250 big blinds (appendix C.1)
depend on the game's blinds."""
