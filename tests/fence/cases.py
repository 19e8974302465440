"""Fixed jobs whose numbers must stay as they are: names, and how to run them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from tests.fence import doors
from tests.fence.doors import Numbers

EXACT, SINGLE = 1e-9, 1e-4
"""How far numbers may lie from recorded ones on another machine, relative to their size, in double and in single precision.

Compilers and libraries choose instructions by processor: sums are taken in another order, a product is added with one rounding
instead of two. Iterations keep such differences small, about 1e-15 and 1e-7; with plain instructions of the x86-64 of 2003 in
place of AVX-512, most numbers in double precision are the same to the bit.
"""
STEERED = 1e-6
"""Tolerance where a network, in single precision, chooses the weights of iterations."""
SEARCHED = 0.02
"""Tolerance where a network values leaves: policies that tie there but for its roundings."""
JUDGED = 0.1
"""What a best response gains from such policies, of few plays."""
TIES = 0.25
"""Tolerance with exact leaves. What follows a leaf is solved for hands that hardly ever come there, by few iterations; where
two actions tie, roundings decide, and a policy or a value may be another. That is no less right, but not the same."""
BITS = math.inf
"""A number that means something only bit for bit, on the machine of the record."""
LEAVES = {"none": EXACT, "zero": EXACT, "exact": TIES, "rebel": SEARCHED}
"""By the leaves of a search."""


@dataclass(frozen=True)
class Case:
    """One job.

    Attributes:
        run: does it.
        rtol: how far numbers may be off on another machine, relative to their size.
        rtols: the same for some of the numbers, by the beginning of their names.
        slow: takes minutes.
        torch: needs PyTorch.
    """

    run: Callable[[], Numbers]
    rtol: float = EXACT
    rtols: Mapping[str, float] = field(default_factory=dict)
    slow: bool = False
    torch: bool = False

    def tolerance(self, name: str) -> float:
        """How far one of the numbers may be off."""
        return next((rtol for start, rtol in self.rtols.items() if name.startswith(start)), self.rtol)


UNEVEN = "matrix(rows=[[2,0],[0,1]],second=[[0,1],[3,0]])"
GAMES = (
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "leduc_poker(suit_isomorphism=true)",
    "leduc_poker(players=3,ranks=2,raises=1)",
    "small_holdem",
    "turn_holdem(ranks=5,stack=4,bets=[50%;a],raises=[a])",
    "rhode_island(ranks=2)",
    "liars_dice(dice_sides=4)",
    "liars_dice(players=3,dice_sides=2)",
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1.0],num_shots=2)",
    UNEVEN,
    "small_matrix",
    "modified_rps",
    "rock_paper_scissors",
)
SWEEPING = (
    "cfr",
    "cfr+",
    "lcfr",
    "dcfr",
    "dcfr(alpha=2,gamma=3)",
    "dcfr+",
    "pcfr+",
    "pdcfr",
    "pdcfr+",
    "apcfr+",
    "sapcfr+",
    "hs-dcfr",
    "hs-pcfr+",
    "ddcfr(horizon=100)",
    "dpcfr+(horizon=100)",
    "pddcfr(horizon=100)",
    "vt-cfr+",
    "greedy",
    "fp",
    "linear-fp",
    "flop",
)
SAMPLING = ("cs-mccfr", "es-mccfr", "os-mccfr", "as-mccfr", "rs-mccfr", "vr-mccfr", "es-mccfr(variant=lcfr)")
GENERAL_SUM = "goofspiel(num_cards=3,imp_info=true,points_order=descending,returns_type=total_points)"
DICE = "liars_dice(dice_sides=4)"
PROGRAM = {"exploitability": 1.0, "policy": BITS}
"""A linear program may have many solutions; HiGHS decides which, and all are exploitable by rounding errors."""
TRAINED = {"loss": 0.2, "policy loss": 0.2, "exploitability": 1.0, "value": BITS, "weights": BITS}
"""Self-play amplifies roundings: other games are played, and two machines learn different networks that are
nearly as good as each other."""

CASES: dict[str, Case] = {
    **{f"uniform play of {game}": Case(partial(doors.judge_uniform, game)) for game in GAMES},
    **{f"identity of {game}": Case(partial(doors.identity_of, game)) for game in ("kuhn_poker", "leduc_poker", DICE)},
    **{
        f"leduc_poker by {algorithm}": Case(
            partial(doors.solve, "leduc_poker", algorithm, iterations=100, every=20),
            STEERED if "horizon" in algorithm else EXACT,
        )
        for algorithm in SWEEPING
    },
    **{
        f"leduc_poker by {algorithm}, both players at once": Case(
            partial(doors.solve, "leduc_poker", algorithm, iterations=60, every=20, updates="simultaneous")
        )
        for algorithm in ("cfr", "dcfr", "pcfr+", "vt-cfr+", "fp")
    },
    **{
        f"leduc_poker by {algorithm}": Case(partial(doors.solve, "leduc_poker", algorithm, iterations=600, every=200, seed=7))
        for algorithm in SAMPLING
    },
    **{
        f"{game} by {algorithm}": Case(partial(doors.solve, game, algorithm, iterations=60, every=20))
        for game in ("kuhn_poker(players=3)", GENERAL_SUM, DICE)
        for algorithm in ("cfr", "pcfr+")
    },
    **{
        f"{game} by {algorithm}": Case(partial(doors.solve, game, algorithm, iterations=50, every=25, seed=5))
        for game in ("kuhn_poker(players=3)", GENERAL_SUM)
        for algorithm in ("cfr-s", "cfr-jr", "cfr-jr(plus=1)")
    },
    **{
        f"{game} by {algorithm}": Case(partial(doors.solve, game, algorithm, iterations=100, every=50, seed=5))
        for game in (UNEVEN, "small_matrix")
        for algorithm in ("rm", "rm(sampled=1)")
    },
    **{
        f"{game} by lp": Case(partial(doors.solve, game, "lp", iterations=1, every=1), rtol=1e-7, rtols=PROGRAM)
        for game in ("kuhn_poker", "leduc_poker", "small_matrix")
    },
    **{
        f"{game} by recursive": Case(partial(doors.solve, game, "recursive", iterations=1, every=1), rtol=1e-7, rtols=PROGRAM)
        for game in ("goofspiel(num_cards=3)", "modified_rps", "matrix(rows=[[2,0],[0,1]],second=[[1,0],[0,2]])")
    },
    "kuhn_poker by the command line": Case(partial(doors.solve_by_command, "kuhn_poker", "cfr+", 100)),
    "judges of kuhn_poker": Case(partial(doors.judge_solved, "kuhn_poker", "dcfr", iterations=50)),
    "judges of leduc_poker": Case(partial(doors.judge_solved, "leduc_poker", "cfr+", iterations=50)),
    "liars_dice without compiling": Case(
        partial(doors.sample, "liars_dice(numdice=2,dice_sides=3)", "es-mccfr", iterations=200, seed=5)
    ),
    "leduc_poker without compiling": Case(partial(doors.sample, "leduc_poker", "os-mccfr", iterations=2000, seed=5)),
    "correlation devices of kuhn_poker": Case(
        partial(doors.judge_devices, "kuhn_poker(players=3)", "cfr-s", iterations=50, seed=5)
    ),
    **{
        f"best correlated equilibrium of {game}": Case(partial(doors.best_correlation, game), rtol=1e-7, rtols={"CCE": BITS})
        for game in (UNEVEN, "kuhn_poker")
    },
    # hold'em
    **{
        f"river by {algorithm}": Case(partial(doors.solve_holdem, "river", algorithm, iterations=100), rtol=SINGLE)
        for algorithm in (
            "dcfr",
            "cfr+",
            "hs-dcfr",
            "pcfr+",
            "vt-cfr+",
            "ddcfr(horizon=100)",
            "pddcfr(horizon=100)",
            "linear-fp",
        )
    },
    "river in float64": Case(partial(doors.solve_holdem, "river", "dcfr", iterations=100, storage="float64")),
    "river in 16 bits": Case(partial(doors.solve_holdem, "river", "dcfr", iterations=100, storage="int16"), rtol=SINGLE),
    "river with locks": Case(
        partial(doors.solve_holdem, "river", "dcfr", iterations=60, locks=("x: b50% 60%, x 40%", "b10 [KK]: c 80%, f 20%")),
        rtol=SINGLE,
    ),
    "river by the command line": Case(partial(doors.solve_holdem_by_command, "dcfr", 60), rtol=SINGLE),
    "turn": Case(partial(doors.solve_holdem, "turn", "dcfr", iterations=60, deals=("2s", "Jh")), rtol=SINGLE),
    "turn in 16 bits": Case(
        partial(doors.solve_holdem, "turn", "dcfr", iterations=60, storage="int16", deals=("2s", "Jh")), rtol=SINGLE
    ),
    "turn with a lock": Case(
        partial(doors.solve_holdem, "turn", "cfr+", iterations=40, locks=("x,x: x 100%",), deals=("2s",)), rtol=SINGLE
    ),
    "flop": Case(partial(doors.solve_holdem, "flop", "dcfr", iterations=20, deals=("2s", "Jh")), rtol=SINGLE),
    "blinds and rake": Case(partial(doors.solve_holdem, "blinds", "cfr+", iterations=60, storage="float64")),
    "leduc as a spot": Case(partial(doors.solve_holdem, "leduc", "dcfr", iterations=60, storage="float64")),
    "limit hold'em": Case(partial(doors.solve_limit_holdem, (3, 2, 2, 2), iterations=4000), rtol=SINGLE),
    # search
    **{
        f"search of {DICE} by {method}, {leaf} leaves": Case(
            partial(doors.search_game, DICE, method, leaf, depth=2, iterations=20), LEAVES[leaf]
        )
        for method, leaf in (
            ("dcfr", "zero"),
            ("dcfr", "exact"),
            ("dcfr-avg", "exact"),
            ("lcfr-avg-modified", "exact"),
            ("linear-fp", "exact"),
        )
    },
    f"search of {DICE} by dcfr, network leaves": Case(
        partial(doors.search_game, DICE, "dcfr", "rebel", depth=2, iterations=20), SEARCHED, torch=True
    ),
    "search of leduc_poker by cfr+ to the end": Case(
        partial(doors.search_game, "leduc_poker", "cfr+", "none", depth=0, iterations=50)
    ),
    "search of leduc_poker by dcfr, exact leaves": Case(
        partial(doors.search_game, "leduc_poker", "dcfr", "exact", depth=3, iterations=10), TIES
    ),
    **{
        f"play of {game} by {method}, {leaf} leaves": Case(
            partial(doors.play_by_search, game, method, leaf, depth=1, iterations=8, lines=lines),
            rtol=LEAVES[leaf],
            torch=leaf == "rebel",
        )
        for game, method, leaf, lines in (
            ("liars_dice(dice_sides=3)", "lcfr", "exact", ((0, 1, 2), (1, 3))),
            ("liars_dice(dice_sides=3)", "dcfr-avg", "exact", ((0, 1, 2), (1, 3))),
            (DICE, "dcfr", "rebel", ((0, 2, 4), (3,))),
        )
    },
    f"exploitability of search in {DICE}": Case(
        partial(doors.judge_search, DICE, "rebel", playthroughs=8, iterations=32), JUDGED, torch=True
    ),
    **{
        f"search of a turn by {method}, {leaf} leaves": Case(
            partial(doors.search_turn, method, leaf, iterations=10),
            rtol=LEAVES[leaf],
            torch=leaf == "rebel",
        )
        for method, leaf in (
            ("lcfr", "zero"),
            ("lcfr", "exact"),
            ("lcfr", "rebel"),
            ("dcfr-avg", "exact"),
            ("lcfr-avg-modified", "exact"),
            ("linear-fp", "exact"),
        )
    },
    **{
        f"play of a turn by search, {leaf} leaves": Case(
            partial(doors.play_turn_by_search, "lcfr", leaf, iterations=6, card="2c", lines=((0, 1, 1, 0), (1, 1))),
            rtol=LEAVES[leaf],
            torch=leaf == "rebel",
        )
        for leaf in ("exact", "rebel")
    },
    # learning
    "ReBeL in four-sided dice": Case(
        partial(
            doors.train_rebel,
            DICE,
            judged=16,
            iterations=32,
            episodes=32,
            solves=10_000,
            width=32,
            burn_in=256,
            batch=128,
            reuse=16.0,
            seed=3,
        ),
        rtols=TRAINED,
        torch=True,
    ),
    "ReBeL with a policy network": Case(
        partial(
            doors.train_rebel,
            "liars_dice(dice_sides=2)",
            iterations=8,
            episodes=16,
            solves=320,
            width=8,
            burn_in=64,
            batch=32,
            reuse=4.0,
            depth=1,
            policy_net=True,
            warm=2,
            seed=3,
        ),
        rtols=TRAINED,
        torch=True,
    ),
    "ReBeL in two streams": Case(
        partial(
            doors.train_rebel,
            "liars_dice(dice_sides=2)",
            streams=2,
            iterations=4,
            episodes=16,
            solves=320,
            width=8,
            burn_in=64,
            batch=32,
            reuse=4.0,
            depth=1,
            seed=3,
        ),
        rtols=TRAINED,
        torch=True,
    ),
    "ReBeL by tensors": Case(
        partial(
            doors.train_rebel,
            "liars_dice(dice_sides=2)",
            iterations=4,
            episodes=16,
            solves=160,
            width=8,
            burn_in=64,
            batch=32,
            reuse=4.0,
            depth=1,
            device="torch-cpu",
            seed=3,
        ),
        rtols=TRAINED,
        torch=True,
    ),
    "ReBeL in four-sided dice, two minutes": Case(
        partial(doors.train_rebel, DICE, judged=64, solves=120_000, seed=3), rtols=TRAINED, slow=True, torch=True
    ),
    "ReBeL on turns": Case(
        partial(
            doors.train_turns,
            iterations=2,
            rivers=4,
            river_iterations=8,
            games=6,
            bins=8,
            width=8,
            layers=1,
            burn_in=8,
            batch=8,
            reuse=8.0,
        ),
        rtols=TRAINED,
        torch=True,
    ),
    "discounts by evolution": Case(
        partial(doors.train_discounts, "ddcfr", ("kuhn_poker", "small_matrix"), optimizer="es", epochs=3), rtol=1e-6
    ),
    "discounts by PPO": Case(
        partial(doors.train_discounts, "dpcfr+", ("kuhn_poker",), optimizer="ppo", epochs=2), rtol=1e-6, torch=True
    ),
}
