"""Conformance suites: one line checks a game, a variant of CFR or an agent of your own.

>>> from treeplex.testing import check_game
>>> print(check_game("kuhn_poker"))
kuhn_poker: 100 playthroughs, states, spec, 12 infosets, public tree, Numba functions

A suite raises at the first violation: the error names the place and says what is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate.check_rules import check_rules
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.public_tree import compile_public_tree
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
"""How far probabilities may be from a sum of one, and values of two descriptions of one game from each other."""
RANDOM_POLICIES = 3
"""How many random policies two descriptions of one game are compared on."""
MOST_WALKED = 200_000
"""Histories up to which a game is compiled by walking its rules."""


@dataclass(frozen=True)
class Conformance:
    """What a suite checked, and found right.

    Attributes:
        subject: what was checked.
        checks: in a few words each.
    """

    subject: str
    checks: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject}: {', '.join(self.checks)}"


def check_game(game: str | Game | Any, *, playthroughs: int = 100, seed: int = 0) -> Conformance:
    """Check the rules of a game.

    At every state of random playthroughs: the player to act, legal actions, their names, chance and payoffs are what
    :class:`treeplex.State` asks for. States never change. ``treeplex.load(game.spec)`` is the same game. A game that can be
    walked compiles: perfect recall, probabilities, public states. A public tree and Numba functions, where the game has them,
    describe the same game as its histories.

    Args:
        game: a spec, rules, or an OpenSpiel game.
        playthroughs: how many, drawn uniformly from the actions.
        seed: of the actions.

    Raises:
        GameError: the first violation, with the history where it was found.
    """
    rules = load(game).walkable_rules()
    generator, checks = Random(seed), [f"{playthroughs} playthroughs"]
    for _ in range(playthroughs):
        check_playthrough(rules, generator)
    StateCheck(rules).run(playthroughs, seconds=10.0)
    checks.append("states")
    if rules.spec and ".py:" not in rules.spec:
        if load(rules.spec).spec != rules.spec:
            raise GameError(f"{rules}: loading its spec gives {load(rules.spec).spec}; write the spec that makes this game")
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
    state, path = game.new_initial_state(), list[str]()
    while True:
        where = f"after history [{', '.join(path)}]" if path else "at the root"
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


def actions_of(state: State) -> list[int]:
    """What may happen at a state: actions of the player to act, or of chance."""
    return [action for action, _ in state.chance_outcomes()] if state.is_chance_node() else list(state.legal_actions())


def fault_of(game: Game, state: State) -> str | None:
    """What is wrong with a state; None where nothing is."""
    player = state.current_player()
    if player == TERMINAL:
        payoffs = list(state.returns())
        if len(payoffs) != game.num_players or not np.isfinite(payoffs).all():
            return f"returns() is {payoffs}; give a finite number for each of {game.num_players} players"
        return None
    if player == SIMULTANEOUS:
        return None
    legal = actions_of(state)
    if not legal or len(set(legal)) < len(legal):
        return f"the actions are {legal}; give at least one, and each once"
    names = [state.action_to_string(action) for action in legal]
    if len(set(names)) < len(names):
        return f"action_to_string gives two actions one name: {names}"
    if player == CHANCE:
        outcomes = list(state.chance_outcomes())
        total = sum(chance for _, chance in outcomes)
        if abs(total - 1) > CLOSE or min(chance for _, chance in outcomes) < 0:
            return f"the probabilities of chance_outcomes() sum to {total}; give nonnegative ones that sum to 1"
        return None
    if not 0 <= player < game.num_players:
        return f"current_player() is {player}; give 0 to {game.num_players - 1}, CHANCE, SIMULTANEOUS or TERMINAL"
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
        raise GameError(f"{game}: only one of its histories and its {other} has infoset {infostate!r} of player {player}")
    for (player, infostate), infoset in one.lookup.items():
        actions, others = named_actions(one, player, infoset), named_actions(two, player, two.lookup[player, infostate])
        if actions != others:
            raise GameError(f"{game}: actions at {infostate!r} are {actions} by its histories, {others} by its {other}")
    if one.size.histories != two.size.histories:
        raise GameError(f"{game} has {one.size.histories:,} histories, {two.size.histories:,} by its {other}")
    for seed in range(RANDOM_POLICIES):
        weights = np.random.default_rng(seed).random(int(one.tree.sequence_offsets[-1]))
        policy = Policy(one, normalised(one, weights))
        mine, theirs = judge(one, policy).value, judge(two, transferred(policy, two)).value
        if not np.allclose(mine, theirs, rtol=CLOSE, atol=CLOSE):
            raise GameError(f"{game}: a random policy is worth {mine} by its histories, {theirs} by its {other}")


def named_actions(game: CompiledGame, player: int, infoset: int) -> dict[int, str]:
    """The names of the actions of an infoset, by action id."""
    return {int(action): game.action_names[player].get(action, str(action)) for action in game.actions_at(infoset)}


def check_variant(variant: AnyAlgorithm, *, game: str | Game = "leduc_poker", iterations: int = 50) -> Conformance:
    """Check a variant of CFR, an update rule or a scheme of your own on a game.

    It converges: after ``iterations`` the average policy is less exploitable than uniform play, and less than after a tenth of
    them. A run in pieces and a run that is saved and resumed end with the same bits as one without a stop.

    Args:
        variant: the value, or ``"my.py:NAME"``.
        game: for two players.
        iterations: how many; at least 10.

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
            f"{name} does not converge on {compiled}: exploitability {uniform:.4g} of uniform play, {first:.4g} after {early} "
            f"iterations, {last:.4g} after {iterations}"
        )
    for _ in range(early):
        pieces.run(1)
    resumed.restore(pieces.state())
    for solver in (pieces, resumed):
        solver.run(iterations - early)
    for solver, what in ((pieces, "in pieces"), (resumed, "that is resumed")):
        if not np.array_equal(solver.average_policy().probabilities, whole.average_policy().probabilities):
            raise AlgorithmError(f"{name}: a run {what} differs from one without a stop; let weights depend on t alone")
    return Conformance(name, (f"exploitability {last:.4g} on {compiled}", "in pieces", "resumed"))


def check_agent(agent: str | Callable[[], Agent], game: str | Game, *, plays: int = 3, seed: int = 0) -> Conformance:
    """Check an agent in plays against itself.

    At every decision its policy is a distribution over the legal actions for every hand, the same when asked again, and it
    acts with actions of positive probability. With the same random numbers it plays the same again, and a new play begins
    where the game does.

    Args:
        agent: ``"my.py:MyAgent"`` or another text that :func:`treeplex.agent` takes, or a function that makes the agent.
        game: what it plays, with public states.
        plays: how many, each twice.
        seed: of the deals and of the agent's draws.

    Raises:
        GameError: the first violation, with the public state where it was found.
    """
    played = agent_named(agent, game, seed=seed) if isinstance(agent, str) else agent()
    name = agent if isinstance(agent, str) else type(played).__name__
    start, decisions = played.game.name_of(played.state), 0
    for play in range(plays):
        first, again = (checked_play(played, name, start, seed + play) for _ in range(2))
        decisions += len(first)
        if len(first) != len(again) or not all(map(np.array_equal, first, again)):
            raise GameError(f"{name}: with the same random numbers it plays otherwise; draw from the generator of begin()")
    return Conformance(f"{name} on {played.game.title}", (f"{plays} plays", f"{decisions} decisions", "repeated"))


def checked_play(agent: Agent, name: str, start: str, seed: int) -> list[Floats]:
    """Check one play of an agent against itself; its policies at all decisions."""
    generator, policies = np.random.default_rng(seed), list[Floats]()
    agent.begin(None, np.random.default_rng(seed))
    game = agent.game
    if game.name_of(agent.state) != start:
        raise GameError(f"{name}: a new play begins at {game.name_of(agent.state)}, not at {start}")
    hands = list(Belief.of(game, agent.state).draw(generator))
    while (options := game.options(agent.state)).player != TERMINAL:
        where = f"{name} at {game.name_of(agent.state)}"
        if options.player == CHANCE:
            label = options.labels[pick(generator, game.chances(agent.state, hands))]
        else:
            policy = agent.policy()
            policies.append(policy)
            shape = len(options.labels), len(game.possible(agent.state)[options.player])
            if policy.shape != shape:
                raise GameError(f"{where}: policy() has shape {policy.shape}; give [actions, hands], here {shape}")
            if not np.isfinite(policy).all() or policy.min() < 0 or np.abs(policy.sum(0) - 1).max() > 1e-6:
                raise GameError(f"{where}: policy() is no distribution over actions for every hand")
            if not np.array_equal(agent.policy(), policy):
                raise GameError(f"{where}: policy() is another one when asked again")
            hand = hands[options.player]
            label = agent.act(hand)
            if label not in list(options.labels) or not policy[list(options.labels).index(label), hand] > 0:
                raise GameError(f"{where}: act({hand}) is {label}, which its policy never plays there")
            if options.private:
                hands[options.player] = hand * len(options.labels) + list(options.labels).index(label)
                label = options.labels[0]
        game, state, name_there = agent.game, agent.state, None
        if options.player == CHANCE or label in list(options.labels):
            name_there = game.name_of(game.after(state, int(label)))
        agent.see(int(label))
        if agent.game is game and name_there not in (None, game.name_of(agent.state)):
            raise GameError(f"{where}: after see({label}) it stands at {game.name_of(agent.state)}, not at {name_there}")
        game = agent.game
    return policies
