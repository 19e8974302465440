"""Creates the table for a game and an opponent given as texts."""

from contextlib import suppress

import numpy as np

from treeplex.base.wings import named
from treeplex.errors import GameError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.games.base import Game, State
from treeplex.run.judge import as_policy
from treeplex.run.policy_source import UNIFORM
from treeplex.search.agents.agent import Agent, TableAgent, UniformAgent
from treeplex.search.named_agents.registry import agent, is_policy, spec_of, usual_time
from treeplex.search.tables.table import AgentTable, RulesTable, Table


def table_for(
    game: str | Game,
    against: str,
    iterations: int | None = None,
    think: str | None = None,
    seed: int | None = None,
    *,
    public: bool = False,
) -> tuple[Table, str]:
    """Create the table for a game with the requested opponent; returns the table and the opponent's name.

    A policy can be the opponent in any game, even if its rules do not define public states.

    Args:
        game: a spec or rules.
        against: the opponent, see :func:`treeplex.agent`.
        iterations, think: limits per search, for agents that search; see :func:`agent_against_person`.
        seed: random seed for deals and draws; None for a different one each time.
        public: whether to seat policies as agents, too, if the rules define public states, so that ranges and luck can be
            computed.

    Raises:
        PolicyError: the opponent belongs to another game.
        SpecError: full-game hold'em with stacks too short for a decision.
    """
    rules = load(game)
    rules.check_decisions()
    generator = np.random.default_rng(seed)
    draw_seed = seed_of_draws(seed)
    if rules.table_kind:
        opponent = agent_against_person(against, rules, iterations, think, draw_seed)
        return named(rules.table_kind)(opponent, generator), getattr(opponent, "about", "") or against
    if against == UNIFORM or (is_policy(against) and spec_of(against).name == "blueprint"):
        if iterations is not None or think is not None:
            raise PolicyError("--iterations and --think apply to agents that search, not to a policy; leave them out")
        if public:
            with suppress(GameError):
                draws = np.random.default_rng(draw_seed)
                seated = UniformAgent(rules.public, draws) if against == UNIFORM else agent(against, rules, seed=draw_seed)
                return AgentTable(seated, generator), against
        if against == UNIFORM:
            return RulesTable(rules, equally_often, generator), UNIFORM
        return RulesTable(rules, as_policy(compile_game(rules), against).action_probabilities, generator), against
    opponent = agent_against_person(against, rules, iterations, think, draw_seed)
    return AgentTable(opponent, generator), getattr(opponent, "about", "") or against


def seed_of_draws(seed: int | None) -> int | None:
    """Derive the seed for an opponent's draws from the seed for deals."""
    return None if seed is None else int(np.random.default_rng((seed, 1)).integers(2**63))


def agent_against_person(text: str, game: Game, iterations: int | None, think: str | None, seed: int | None) -> Agent:
    """Create the agent that a text specifies, to play against a person.

    By default its time limit per decision is :data:`treeplex.search.named_agents.registry.PATIENCE`.

    Args:
        text: the agent, see :func:`treeplex.agent`.
        game: the game to play.
        iterations, think: limits per search; None for those in the text or the defaults.
        seed: random seed for its draws; None for a different one each time.

    Raises:
        SpecError, GameError, PolicyError, FileError: see :func:`treeplex.agent`.
    """
    time = usual_time(text, game, iterations) if think is None else think
    return agent(text, game, iterations=iterations, think=time, seed=seed)


def equally_often(state: State) -> dict[int, float]:
    """Uniform distribution over the legal actions."""
    actions = state.legal_actions()
    return dict.fromkeys(actions, 1.0 / len(actions))


def policy_table(rules: Game, policy: Policy, generator: np.random.Generator) -> Table:
    """Create a table against a policy: on public states if the rules define them, otherwise on histories."""
    with suppress(GameError):
        draws = np.random.default_rng(generator.integers(2**63))
        return AgentTable(TableAgent(rules.public, policy, draws), generator)
    return RulesTable(rules, policy.action_probabilities, generator)
