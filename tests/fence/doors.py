"""The doors of the library that the fence goes through: the only file here that knows where things are.

Each function does one kind of job and says what came out as numbers by name: floats, counts, arrays. Arrays are in an order
that follows from names of infostates, hands and lines, never from how a solver lays them out in memory.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from typer.testing import CliRunner

import treeplex as tp
from papers.cfr2007.runs import LimitSettings, solve_limit
from papers.cfr2007.strategy import preflop_strategy
from treeplex.base.located_text import LocatedText
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.buckets.named import bucketed_holdem
from treeplex.holdem.cards.cards import parse_card
from treeplex.holdem.cards.format import small
from treeplex.holdem.search.agent import holdem_agent
from treeplex.holdem.search.subgames.subgame import cut_spot
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.fields import read_lock
from treeplex.holdem.spots.known import all_hands, holdem
from treeplex.holdem.spots.spot import Rake, Spot
from treeplex.learn.discount.settings import DiscountSettings
from treeplex.run.cli.main import app
from treeplex.run.job import job as frame
from treeplex.search import METHODS, Belief, ExactLeaf, NoLeaf, SubgameSearch, ZeroLeaf, cut
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.leaf import LeafValue
from treeplex.search.settings import PlaythroughSettings
from treeplex.search.subgames.horizon import Horizon
from treeplex.solvers.rules.discount_policy_files import load_discount_policy

Numbers = dict[str, float | int | NDArray[Any]]
"""What a job gives: counts as int, everything else as float or array."""


# Any game


def judge_uniform(game: str) -> Numbers:
    """Sizes of a game, and how good uniform play is in it."""
    compiled = tp.compile(game)
    found, size = tp.judge(compiled, "uniform"), compiled.size
    return {
        "histories": size.histories,
        "terminals": size.terminals,
        "infosets": len(compiled.lookup),
        "exploitability": found.exploitability,
        "value": np.array(found.value),
        "infostates": text_bytes("\n".join(f"{player} {infostate}" for player, infostate in sorted(compiled.lookup))),
    }


def identity_of(game: str) -> Numbers:
    """What files of runs and policies know a game by."""
    return {"identity": text_bytes(tp.compile(game).identity)}


def solve(game: str, algorithm: str, *, iterations: int, every: int, updates: str | None = None, seed: int = 0) -> Numbers:
    """Solve a game: every evaluation, and the average policy."""
    solution = tp.solve(game, algorithm, iterations=iterations, every=every, updates=updates, seed=seed)
    found: Numbers = {}
    for record in solution.records:
        found[f"exploitability at {record.done}"] = record.exploitability
        found[f"nodes at {record.done}"] = record.nodes
        found |= {f"{name} at {record.done}": float(value) for name, value in record.measures.items()}
    return found | {"value": np.array(solution.value), "policy": policy_array(solution)}


def solve_by_command(game: str, algorithm: str, iterations: int) -> Numbers:
    """Run a job from the command line."""
    found = command("solve", game, "-a", algorithm, "-n", str(iterations), "--json")
    return {"exploitability": found["exploitability"], "value": np.array(found["value"])}


def judge_solved(game: str, algorithm: str, *, iterations: int) -> Numbers:
    """What judges say of a solved game: best responses, regrets of infostates, playouts against uniform play."""
    solution = tp.solve(game, algorithm, iterations=iterations)
    gain, response = tp.best_response(game, solution, 0)
    regrets = tp.policies.infostate_regrets(game, solution)
    estimate = tp.policies.estimate(game, solution, playouts=200, seed=3)
    match = tp.policies.head_to_head(game, solution, tp.Policy.uniform(solution.game), playouts=200, seed=3)
    return {
        "best response": gain,
        "best response's policy": policy_array(response),
        "regrets": np.array([regrets[key] for key in sorted(regrets)]),
        "playouts": np.array(estimate.value),
        "match": match.value,
    }


def sample(game: str, algorithm: str, *, iterations: int, seed: int) -> Numbers:
    """Sample a game without compiling it."""
    found = tp.sample(game, algorithm, iterations=iterations, every=iterations, seed=seed, playouts=200)
    return {
        "nodes": found.last.nodes,
        "infosets": found.last.infosets,
        "value": np.array(found.last.value),
        "match": found.last.match,
        "policy": policy_array(found.policy),
    }


def judge_devices(game: str, algorithm: str, *, iterations: int, seed: int) -> Numbers:
    """The correlation device that a solver of joint play leaves in its run folder."""
    with TemporaryDirectory() as folder:
        tp.solve(game, algorithm, iterations=iterations, seed=seed, out=Path(folder) / "run")
        device = tp.correlation.load(Path(folder) / "run", tp.compile(game))
    judged = tp.correlation.judge(device)
    return {
        "payoffs": np.array(device.payoffs),
        "CCE gap": tp.correlation.cce_gap(device),
        **{f"{concept} gap": judged[concept].gap for concept in ("ce", "efce", "efcce")},
    }


def best_correlation(game: str) -> Numbers:
    """The coarse correlated equilibrium with the most welfare."""
    device = tp.correlation.best_cce(tp.compile(game))
    return {"welfare": device.welfare, "CCE gap": tp.correlation.cce_gap(device)}


def policy_array(policy: Any) -> NDArray[np.float64]:
    """All probabilities of a policy: infostates in the order of player and name, actions in that of their numbers."""
    return np.array([share for key in sorted(policy) for _, share in sorted(policy[key].items())], np.float64)


def text_bytes(text: str) -> NDArray[np.uint8]:
    """A text as an array."""
    return np.frombuffer(text.encode(), np.uint8)


def command(*arguments: str) -> Any:
    """What a command prints as JSON."""
    ran = CliRunner().invoke(app, list(arguments))
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


# Hold'em spots

RIVER = holdem(
    "Td9d6hQc2s",
    "AA,KK,QJs,JTs,T9s,AKs,76s:0.5",
    "KK,QQ,T8s,65s,KJs:0.5,AQs,87s",
    pot=20,
    stack=60,
    bets=BetPlan.same("50%,a", "60%,a"),
    rake=Rake(0.05, 3.0),
)
TURN = holdem("Td9d6hQc", "AA,QJs,87s,KJs", "KK,T8s,KJs,A5s:0.5", pot=20, stack=60, bets=BetPlan.same("50%,a", "a"))
FLOP = holdem("Ts9s4s", "AA,KQs", "QQ,JTs", pot=20, stack=30, bets=BetPlan.same("a", ""))
BLINDS = Spot(
    (),
    0,
    8,
    (np.linspace(0.2, 1.0, 6), np.linspace(1.0, 0.3, 6)),
    BetPlan.same("50%,a", "60%,a", streets=2),
    Rake(0.04),
    small(),
    blinds=(1, 2),
)
LEDUC = Spot((), 2.0, 100.0, all_hands(small()), FixedLimit((2.0, 4.0), (2, 2)), format=small())
SPOTS = {"river": RIVER, "turn": TURN, "flop": FLOP, "blinds": BLINDS, "leduc": LEDUC}


def solve_holdem(
    spot: str,
    algorithm: str,
    *,
    iterations: int,
    storage: str = "float32",
    locks: Sequence[str] = (),
    deals: Sequence[str] = (),
) -> Numbers:
    """Solve a hold'em spot: every evaluation, and strategies and values of all lines.

    Args:
        spot: one of :data:`SPOTS`.
        algorithm, iterations, storage: as usual.
        locks: texts of locks.
        deals: cards that are looked at where one is dealt.
    """
    solution = solve_spot(
        SPOTS[spot],
        algorithm,
        iterations=iterations,
        target=0.0,
        threads=1,
        storage=storage,
        every=max(iterations // 4, 1),
        locks=[read_lock(LocatedText("lock", text=text)) for text in locks],
    )
    found: Numbers = {f"exploitability at {record.done}": record.exploitability for record in solution.records}
    lines, strategies, values = [""], [], []
    while lines:
        view = solution.at(lines.pop())
        strategies.append(view.strategy.ravel())
        values += [np.nan_to_num(view.ev_of(player)) for player in (0, 1)]
        lines += [line for line in view.children() if view.player is not None or line.rpartition(",")[2].strip() in deals]
    return found | {
        "lines": len(strategies),
        "ev": np.array(solution.ev),
        "strategies": np.concatenate(strategies),
        "values": np.concatenate(values),
    }


def solve_holdem_by_command(algorithm: str, iterations: int) -> Numbers:
    """Solve a river from the command line."""
    cards = ("--board", "Td 9d 6h Qc 2s", "--oop", "AA,QJs,JTs", "--ip", "KK,T8s,65s,KJs:0.5")
    chips = ("--pot", "20", "--stack", "60", "--bets", "50%,a", "--raises", "a")
    found = command("solve", *cards, *chips, "-a", algorithm, "-n", str(iterations), "--threads", "1", "--json")
    return {"exploitability": found["exploitability"], "ev": np.array([found["ev_oop"], found["ev_ip"]])}


def solve_limit_holdem(buckets: tuple[int, int, int, int], *, iterations: int) -> Numbers:
    """Limit hold'em of the smallest deck that has its streets, cards in buckets."""
    game = bucketed_holdem(buckets=buckets, cards="royal", boards=50, river_boards=50)
    run = solve_limit(LimitSettings(game.spec), iterations=iterations, evaluations=2)
    lines = ("", "c", "r", "cr", "rr")
    found: Numbers = {f"exploitability at {record.done}": record.exploitability for record in run.records}
    return found | {
        "bounds": np.array(run.records[-1].bounds),
        "preflop": np.concatenate([preflop_strategy(run.strategy, line).probabilities.ravel() for line in lines]),
    }


# Search

SEARCHED = holdem("3s7hTdKs", "QQ,JTs,AKs", "99,KQs,T9s", pot=20.0, stack=40.0, bets=BetPlan.same("100%", "a"))


def search_game(game: str, method: str, leaf: str, *, depth: int, iterations: int) -> Numbers:
    """Search a game from its root: what both players' hands are worth, and the average policy at the root."""
    rules = public_tree(game)
    root = Belief.root(rules)
    subgames = cut(rules, [root], Horizon(depth or None))
    search = SubgameSearch(subgames, METHODS[method], leaf_of(rules, leaf), horizon=iterations)
    search.run(iterations)
    first, second = search.root_values()
    return {"values of player 0": first[0], "values of player 1": second[0], "policy": policy_at_root(search)}


def policy_at_root(search: SubgameSearch) -> NDArray[np.float64]:
    """The average policy at the first decision of a batch."""
    return np.asarray(search.policy_at(0, search.average_policy()))


def leaf_of(rules: Any, leaf: str) -> LeafValue:
    """Values where a subgame is cut off: ``none``, ``zero``, ``exact``, or a network that comes with the library."""
    if leaf == "rebel":
        from treeplex.learn.rebel.shipped_nets import shipped_net

        network = shipped_net(rules).leaf(rules)
        network.origin = None  # it is asked at depths that it was not trained for, and need not warn of that
        return network
    return {"none": NoLeaf(), "zero": ZeroLeaf(), "exact": ExactLeaf(iterations=20)}[leaf]


def play_by_search(
    game: str, method: str, leaf: str, *, depth: int, iterations: int, lines: Sequence[Sequence[int]]
) -> Numbers:
    """An agent that searches while it plays: its policy for every hand along some lines of actions, one game each."""
    rules = public_tree(game)
    settings = PlaythroughSettings(method=method, iterations=iterations, depth=depth)
    agent = SearchAgent(rules, leaf_of(rules, leaf), settings, np.random.default_rng(11))
    found: Numbers = {}
    for line in lines:
        agent.begin()
        for action in (*line, None):
            found[f"line {tuple(line)}, place {len(agent._path) + len(agent._inside)}"] = agent.policy().T
            if action is not None:
                agent.see(action)
    return found | {"searches": agent.searches}


def judge_search(game: str, network: str | Path, *, playthroughs: int | None, iterations: int) -> Numbers:
    """How exploitable a network is that searches."""
    found = tp.learn.judge_rebel(game, network, playthroughs=playthroughs, iterations=iterations, workers=1)
    return {"exploitability": found.judgement.exploitability, "value": np.array(found.judgement.value)}


def search_turn(method: str, leaf: str, *, iterations: int) -> Numbers:
    """Search a turn of hold'em to the end of its betting."""
    search = SubgameSearch(cut_spot(SEARCHED), METHODS[method], turn_leaf(leaf), horizon=iterations)
    search.run(iterations)
    held = [own > 0 for own in SEARCHED.ranges]
    first, second = search.root_values()
    return {
        "values of player 0": first[0, held[0]],
        "values of player 1": second[0, held[1]],
        "policy": search.policy_at(0, search.average)[:, held[0]],
    }


def turn_leaf(leaf: str) -> LeafValue:
    """Values where a turn's betting ends: ``zero``, ``exact``, or the network that comes with the library."""
    if leaf == "rebel":
        from treeplex.learn.rebel.shipped_nets import RIVERS
        from treeplex.learn.rebel.turns.nets import read_turn_leaf

        return read_turn_leaf(RIVERS)
    return ZeroLeaf() if leaf == "zero" else ExactLeaf(iterations=10)


def play_turn_by_search(method: str, leaf: str, *, iterations: int, card: str, lines: Sequence[Sequence[int]]) -> Numbers:
    """An agent that plays turns of hold'em: its policy for every hand along some lines, a card where one is dealt."""
    agent = holdem_agent(SEARCHED, turn_leaf(leaf), np.random.default_rng(11), method=method, iterations=iterations, endgame=20)
    found: Numbers = {}
    for line in lines:
        agent.begin()
        for place, action in enumerate((*line, None)):
            if agent.game.options(agent.state).player == CHANCE:
                agent.see(parse_card(card))
            hands = np.flatnonzero(agent.game.possible(agent.state)[agent.game.options(agent.state).player])
            found[f"line {tuple(line)}, place {place}"] = agent.policy()[:, hands].T
            if action is not None:
                agent.see(action)
    return found | {"searches": agent.searches}


# Learning


def train_rebel(game: str, *, judged: int | None = None, streams: int = 1, **settings: Any) -> Numbers:
    """Train a value network by self-play with search.

    Args:
        game: spec.
        judged: playthroughs in which what it learnt is judged; None: not.
        streams: of games; more than one are played by a worker.
        settings: changes to the usual ones.
    """
    with TemporaryDirectory() as folder, one_record():
        given = {"settings": {**settings, "streams": streams}, "out": Path(folder) / "run"}
        training = tp.train(game, "rebel", workers=1, judge_every=0, **given)
        found = learnt(training.folder / "net.safetensors", training.records[-1], "solved", ("rows", "steps"))
        if training.records[-1].policy_loss is not None:
            found["policy loss"] = training.records[-1].policy_loss
        return found if judged is None else found | judge_search(game, training.folder, playthroughs=judged, iterations=32)


def train_turns(**settings: Any) -> Numbers:
    """Train a network for rivers on turns of hold'em."""
    spot = replace(SEARCHED, bets=BetPlan.same("100%", ""))
    with TemporaryDirectory() as folder, one_record():
        training = tp.train(spot, "rebel", settings=settings, out=Path(folder) / "run")
        return learnt(training.folder / "net.safetensors", training.records[-1], "games", ("rows", "steps"))


@contextmanager
def one_record() -> Any:
    """Let a training write records at its beginning and its end alone, not after so many seconds."""
    with patch.object(frame, "RECORD_SECONDS", 1e9):
        yield


def learnt(network: Path, record: Any, unit: str, counts: Sequence[str]) -> Numbers:
    """What a training came to: counts, the mean loss of all its steps, and the network."""
    from treeplex.learn.rebel.files import read_net

    weights: Mapping[str, NDArray[Any]] = read_net(network).weights
    found: Numbers = {unit: record.done, **{name: getattr(record, name) for name in counts}}
    return found | {"loss": record.loss, "weights": np.concatenate([weights[name].ravel() for name in sorted(weights)])}


def train_discounts(algorithm: str, games: tuple[str, ...], *, optimizer: str, epochs: int) -> Numbers:
    """Train a discount policy."""
    settings = DiscountSettings(
        epochs,
        population=4,
        sigma=0.5,
        learning_rate=0.1,
        horizon=20,
        hidden=(8,),
        optimizer=optimizer,
        clipped=optimizer == "es",
        seed=2,
    )
    with TemporaryDirectory() as folder:
        training = tp.train(games, algorithm, settings=settings, out=Path(folder) / "run", workers=1)
        policy = load_discount_policy(training.folder / "policy.safetensors")
    found: Numbers = {f"fitness at {record.done}": record.fitness for record in training.records}
    return found | {
        "exploitability": np.array([record.exploitability for record in training.records]),
        "network": np.asarray(policy.parameters),
    }
