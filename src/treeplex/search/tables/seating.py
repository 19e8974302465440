"""The table for a game and an opponent that texts name."""

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
    """A table for the game with the opponent that is asked for, and who that is.

    Policies can be played against in any game, whether its rules say what is public or not.

    Args:
        game: a spec or rules.
        against: as :func:`treeplex.agent` takes it.
        iterations, think: of each search of an agent that searches; see :func:`agent_against_person`.
        seed: of deals and draws; None for others each time.
        public: sit down with policies as with agents wherever rules say what is public, so that ranges and luck are known.

    Raises:
        PolicyError: an opponent for another game.
        SpecError: whole hold'em with stacks too short for a decision.
    """
    rules = load(game)
    rules.check_decisions()
    generator = np.random.default_rng(seed)
    own = seed_of_draws(seed)
    if rules.table_kind:
        opponent = agent_against_person(against, rules, iterations, think, own)
        return named(rules.table_kind)(opponent, generator), getattr(opponent, "about", "") or against
    if against == UNIFORM or (is_policy(against) and spec_of(against).name == "blueprint"):
        if iterations is not None or think is not None:
            raise PolicyError("--iterations and --think are about searching; a policy does not search")
        if public:
            with suppress(GameError):
                draws = np.random.default_rng(own)
                seated = UniformAgent(rules.public, draws) if against == UNIFORM else agent(against, rules, seed=own)
                return AgentTable(seated, generator), against
        if against == UNIFORM:
            return RulesTable(rules, equally_often, generator), UNIFORM
        return RulesTable(rules, as_policy(compile_game(rules), against).action_probabilities, generator), against
    opponent = agent_against_person(against, rules, iterations, think, own)
    return AgentTable(opponent, generator), getattr(opponent, "about", "") or against


def seed_of_draws(seed: int | None) -> int | None:
    """The seed of an opponent's draws, where ``seed`` is that of deals."""
    return None if seed is None else int(np.random.default_rng((seed, 1)).integers(2**63))


def agent_against_person(text: str, game: Game, iterations: int | None, think: str | None, seed: int | None) -> Agent:
    """The agent that a text names.

    Where nothing else is said it decides within :data:`treeplex.search.named_agents.registry.PATIENCE`.

    Args:
        text: as :func:`treeplex.agent` takes it.
        game: what is played.
        iterations, think: of each search; None for those of the text or the usual ones.
        seed: of its draws; None for others each time.

    Raises:
        SpecError, GameError, PolicyError, FileError: as :func:`treeplex.agent`.
    """
    time = usual_time(text, game, iterations) if think is None else think
    return agent(text, game, iterations=iterations, think=time, seed=seed)


def equally_often(state: State) -> dict[int, float]:
    """Every legal action with the same probability."""
    actions = state.legal_actions()
    return dict.fromkeys(actions, 1.0 / len(actions))


def policy_table(rules: Game, policy: Policy, generator: np.random.Generator) -> Table:
    """A table against a policy of a game: at public states where the rules say them, else at histories."""
    with suppress(GameError):
        draws = np.random.default_rng(generator.integers(2**63))
        return AgentTable(TableAgent(rules.public, policy, draws), generator)
    return RulesTable(rules, policy.action_probabilities, generator)
