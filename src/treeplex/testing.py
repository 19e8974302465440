"""Conformance suites: check a custom game, CFR variant or agent with one call.

>>> from treeplex.testing import check_game
>>> print(check_game("kuhn_poker"))
kuhn_poker: 100 playthroughs, states, spec, 12 infosets, public tree, Numba functions

A suite raises an error at the first violation. The error names the place and the fault.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError, TreeplexError
from treeplex.evaluate.check_rules import check_rules
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.public_tree import compile_public_tree
from treeplex.forms.compile.rule_errors import failed_rules
from treeplex.forms.compile.state_check import StateCheck
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.openspiel import transferred
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, SIMULTANEOUS, TERMINAL, Game, State
from treeplex.games.public import PublicTree, pick
from treeplex.games.size_estimate import clearly_more
from treeplex.search.agents.agent import Agent
from treeplex.search.named_agents.registry import agent as agent_named
from treeplex.search.subgames.beliefs import Belief
from treeplex.solvers.registry import AnyAlgorithm, make_solver

__all__ = ["Conformance", "check_agent", "check_game", "check_variant"]

CLOSE = 1e-9
"""Tolerance for sums of probabilities, and for the values of two descriptions of one game."""
RANDOM_POLICIES = 3
"""Number of random policies on which two descriptions of one game are compared."""
MOST_WALKED = 200_000
"""Largest number of histories for which a game is compiled by walking its rules."""


@dataclass(frozen=True)
class Conformance:
    """Result of a conformance suite that passed.

    Attributes:
        subject: the name of the game, variant or agent.
        checks: a short description of each check.
    """

    subject: str
    checks: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject}: {', '.join(self.checks)}"


def check_game(game: str | Game | Any, *, playthroughs: int = 100, seed: int = 0) -> Conformance:
    """Check the rules of a game.

    Random playthroughs check that the player to act, legal actions, action names, chance outcomes and payoffs follow the
    contract of :class:`treeplex.State`, that states are immutable, and that ``treeplex.load(game.spec)`` is the same game. A
    game small enough to walk is also compiled, which checks perfect recall, probabilities and public states. If the game has a
    public tree or Numba functions, they must describe the same game as its histories.

    Args:
        game: a spec, rules, or an OpenSpiel game.
        playthroughs: number of playthroughs with uniformly random actions.
        seed: random seed of the playthroughs.

    Raises:
        GameError: the first violation, with its history.
    """
    rules = load(game).walkable_rules()
    generator, checks = Random(seed), [f"{playthroughs} playthroughs"]
    for _ in range(playthroughs):
        check_playthrough(rules, generator)
    StateCheck(rules).run(playthroughs, seconds=10.0)
    checks.append("states")
    if rules.spec and ".py:" not in rules.spec:
        if load(rules.spec).spec != rules.spec:
            raise GameError(f"{rules}: loading its spec gives {load(rules.spec).spec}; correct the spec")
        checks.append("spec")
    tree = rules.public_tree()
    if not clearly_more(rules, MOST_WALKED):
        walked = compile_rules(rules)
        checks.append(f"{len(walked.infostates):,} infosets")
        if isinstance(tree, PublicTree):
            check_same_game(rules, "public tree", walked, compile_public_tree(rules, tree))
            checks.append("public tree")
    if rules.numba_rules() is not None:
        check_rules(rules, playthroughs=playthroughs, seed=seed, progress=False)
        checks.append("Numba functions")
    return Conformance(str(rules), tuple(checks))


def check_playthrough(game: Game, generator: Random) -> None:
    """Check every state of one playthrough."""
    path, where = list[str](), "at the root"
    try:
        state = game.new_initial_state()
        while True:
            if (fault := fault_of(game, state)) is not None:
                raise GameError(f"{game} {where}: {fault}")
            if state.is_terminal():
                return
            if state.is_simultaneous_node():
                moves = tuple(generator.choice(list(state.legal_actions(player)) or [0]) for player in range(game.num_players))
                path.append(str(moves))
                state = state.child(moves)  # type: ignore[arg-type]
            else:
                action = generator.choice(actions_of(state))
                path.append(state.action_to_string(action))
                state = state.child(action)
            where = f"after history [{', '.join(path)}]"
    except (TreeplexError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise failed_rules(error, where) from error


def actions_of(state: State) -> list[int]:
    """Return the legal actions of the player to act, or the outcomes of chance."""
    return [action for action, _ in state.chance_outcomes()] if state.is_chance_node() else list(state.legal_actions())


def fault_of(game: Game, state: State) -> str | None:
    """Describe the first fault of a state; None if it has none."""
    player = state.current_player()
    if player == TERMINAL:
        payoffs = list(state.returns())
        if len(payoffs) != game.num_players or not np.isfinite(payoffs).all():
            return f"returns() is {payoffs}; return a finite number for each of {game.num_players} players"
        return None
    if player == SIMULTANEOUS:
        return None
    legal = actions_of(state)
    if not legal or len(set(legal)) < len(legal):
        return f"legal_actions() is {legal}; return at least one, without duplicates"
    names = [state.action_to_string(action) for action in legal]
    if len(set(names)) < len(names):
        return f"action_to_string gives two actions the same name: {names}"
    if player == CHANCE:
        outcomes = list(state.chance_outcomes())
        total = sum(chance for _, chance in outcomes)
        if not abs(total - 1) <= CLOSE or min(chance for _, chance in outcomes) < 0:
            return f"chance_outcomes() is {outcomes[:6]}; return nonnegative probabilities that sum to 1, here {total}"
        return None
    if not 0 <= player < game.num_players:
        return f"current_player() is {player}; return 0 to {game.num_players - 1}, CHANCE, SIMULTANEOUS or TERMINAL"
    if state.information_state_string() != state.information_state_string(player):
        return "information_state_string() differs from that of the player to act"
    return None


def check_same_game(game: Game, other: str, one: CompiledGame, two: CompiledGame) -> None:
    """Compare a game compiled in two ways: infosets, players, actions, histories and the values of random policies.

    Raises:
        GameError: they differ.
    """
    if one.lookup.keys() != two.lookup.keys():
        player, infostate = min(one.lookup.keys() ^ two.lookup.keys())
        raise GameError(f"{game}: infoset {infostate!r} of player {player} exists in only one of the histories and the {other}")
    for (player, infostate), infoset in one.lookup.items():
        actions, others = named_actions(one, player, infoset), named_actions(two, player, two.lookup[player, infostate])
        if actions != others:
            raise GameError(f"{game}: actions at {infostate!r} are {actions} in the histories, but {others} in the {other}")
    if one.size.histories != two.size.histories:
        raise GameError(f"{game} has {one.size.histories:,} histories, but {two.size.histories:,} in the {other}")
    for seed in range(RANDOM_POLICIES):
        weights = np.random.default_rng(seed).random(int(one.tree.sequence_offsets[-1]))
        policy = Policy(one, normalised(one, weights))
        mine, theirs = judge(one, policy).value, judge(two, transferred(policy, two)).value
        if not np.allclose(mine, theirs, rtol=CLOSE, atol=CLOSE):
            raise GameError(f"{game}: a random policy has value {mine} in the histories, but {theirs} in the {other}")


def named_actions(game: CompiledGame, player: int, infoset: int) -> dict[int, str]:
    """The names of the actions of an infoset, by action id."""
    return {int(action): game.action_names[player].get(action, str(action)) for action in game.actions_at(infoset)}


def check_variant(variant: AnyAlgorithm, *, game: str | Game = "leduc_poker", iterations: int = 50) -> Conformance:
    """Check a custom CFR variant, update rule or discount policy on a game.

    Convergence: after ``iterations`` the average policy must be less exploitable than the uniform policy, and less exploitable
    than after a tenth of the iterations. Resuming: a run in pieces and a saved and resumed run must be bit-identical to an
    uninterrupted run.

    Args:
        variant: the variant, or ``"my.py:NAME"``.
        game: a game for two players.
        iterations: number of iterations, at least 10.

    Raises:
        AlgorithmError: the first violation.
        SpecError: weights that are not finite, or a variant of the wrong form.
    """
    compiled = compile_game(game)
    whole, pieces, resumed = (make_solver(compiled, variant, horizon=iterations) for _ in range(3))
    early = max(iterations // 10, 1)
    whole.run(early)
    first = judge(compiled, whole.average_policy()).exploitability
    whole.run(iterations - early)
    last = judge(compiled, whole.average_policy()).exploitability
    uniform = judge(compiled, Policy.uniform(compiled)).exploitability
    name = getattr(variant, "name", str(variant))
    if not last < min(first, uniform):
        raise AlgorithmError(
            f"{name} does not converge on {compiled}: exploitability is {uniform:.4g} for uniform play, {first:.4g} after "
            f"{early} "
            f"iterations and {last:.4g} after {iterations}"
        )
    for _ in range(early):
        pieces.run(1)
    resumed.restore(pieces.state())
    for solver in (pieces, resumed):
        solver.run(iterations - early)
    for solver, what in ((pieces, "run in pieces"), (resumed, "resumed run")):
        if not np.array_equal(solver.average_policy().probabilities, whole.average_policy().probabilities):
            raise AlgorithmError(f"{name}: a {what} differs from an uninterrupted run; make weights depend only on t")
    return Conformance(name, (f"exploitability {last:.4g} on {compiled}", "in pieces", "resumed"))


def check_agent(agent: str | Callable[[], Agent], game: str | Game, *, plays: int = 3, seed: int = 0) -> Conformance:
    """Check an agent by self-play.

    At every decision the agent's policy must be a distribution over the legal actions for every hand, must not change when
    queried again, and must give its chosen action positive probability. Play must be reproducible from the random generator,
    and a new play must begin at the root of the game.

    Args:
        agent: ``"my.py:MyAgent"``, another spec for :func:`treeplex.agent`, or a function that returns a new agent.
        game: a game with public states.
        plays: number of plays; each is played twice.
        seed: random seed of the deals and of the agent.

    Raises:
        GameError: the first violation, with its public state.
    """
    played = agent_named(agent, game, seed=seed) if isinstance(agent, str) else agent()
    name = agent if isinstance(agent, str) else type(played).__name__
    start, decisions = played.game.name_of(played.state), 0
    for play in range(plays):
        first, again = (checked_play(played, name, start, seed + play) for _ in range(2))
        decisions += len(first)
        if len(first) != len(again) or not all(map(np.array_equal, first, again)):
            raise GameError(
                f"{name}: games with the same random seed differ; draw random numbers only from the generator given to begin()"
            )
    return Conformance(f"{name} on {played.game.title}", (f"{plays} plays", f"{decisions} decisions", "repeated"))


def checked_play(agent: Agent, name: str, start: str, seed: int) -> list[Floats]:
    """Check one self-play of an agent; return its policies at all decisions."""
    generator, policies = np.random.default_rng(seed), list[Floats]()
    agent.begin(None, np.random.default_rng(seed))
    game = agent.game
    if game.name_of(agent.state) != start:
        raise GameError(f"{name}: a new game starts at {game.name_of(agent.state)}, not at {start}")
    hands = list(Belief.of(game, agent.state).draw(generator))
    while (options := game.options(agent.state)).player != TERMINAL:
        where = f"{name} at {game.name_of(agent.state)}"
        if options.player == CHANCE:
            label = options.labels[pick(generator, game.chances(agent.state, hands))]
        else:
            policy = np.asarray(agent.policy())
            policies.append(policy)
            shape = len(options.labels), len(game.possible(agent.state)[options.player])
            if policy.shape != shape:
                raise GameError(f"{where}: policy() has shape {policy.shape}; return [actions, hands], here {shape}")
            if not np.isfinite(policy).all() or policy.min() < 0 or np.abs(policy.sum(0) - 1).max() > 1e-6:
                raise GameError(f"{where}: policy() is not a distribution over actions for every hand")
            if not np.array_equal(agent.policy(), policy):
                raise GameError(f"{where}: policy() changes when called again at the same decision")
            hand = hands[options.player]
            label = agent.act(hand)
            if label not in list(options.labels) or not policy[list(options.labels).index(label), hand] > 0:
                raise GameError(f"{where}: act({hand}) is {label}, which has zero probability under policy()")
            if options.private:
                hands[options.player] = hand * len(options.labels) + list(options.labels).index(label)
                label = options.labels[0]
        game, state, name_there = agent.game, agent.state, None
        if options.player == CHANCE or label in list(options.labels):
            name_there = game.name_of(game.after(state, int(label)))
        agent.see(int(label))
        if agent.game is game and name_there not in (None, game.name_of(agent.state)):
            raise GameError(f"{where}: after see({label}) the agent is at {game.name_of(agent.state)}, not at {name_there}")
        game = agent.game
    return policies
