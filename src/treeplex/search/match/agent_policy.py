"""The policy of an agent in a small game, for evaluation."""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.run.job.record import check_count
from treeplex.search.agents.agent import PLAYS, agent_policy
from treeplex.search.named_agents.registry import agent


@dataclass(frozen=True)
class AgentPolicy:
    """An agent's policy at every infoset, and the cost of computing it.

    Attributes:
        policy: the policy, with the beliefs that result from the agent's own play.
        plays: number of draws; None if the agent's policy is not random.
        subgames: number of subgames solved.
        seconds: wall-clock time.
    """

    policy: Policy
    plays: int | None
    subgames: int
    seconds: float


def policy_of_agent(
    game: str | Game | CompiledGame,
    text: Any,
    *,
    plays: int | None = None,
    seed: int = 0,
    think: float | str | None = None,
    **settings: Any,
) -> AgentPolicy:
    """The policy of a named agent; see :func:`treeplex.search.agents.agent.agent_policy`.

    Args:
        game: a game small enough to enumerate its infosets.
        text, think, settings: as for :func:`treeplex.search.named_agents.registry.agent`.
        plays: number of draws for an agent with a random policy; None for 32.
        seed: random seed for the draws.

    Returns:
        The policy at every infoset, and the cost of computing it.

    Raises:
        GameError: a game whose infosets are not enumerated, such as a hold'em spot.
        TreeplexError: as in :func:`treeplex.search.named_agents.registry.agent`.
    """
    if plays is not None:
        check_count("playthroughs", plays)
    played = load(game) if isinstance(game, str) else game
    load(played).enumerable_rules()
    player, began, solved = agent(text, played, think=think, seed=seed, **settings), perf_counter(), 0
    draws = bool(getattr(player, "draws", False))

    def watch(done: int, total: int, subgames: int) -> None:
        nonlocal solved
        solved = subgames

    count = (plays or PLAYS) if draws else 1
    policy = agent_policy(player, compile_game(played), plays=count, seed=seed, watch=watch)
    return AgentPolicy(policy, count if draws else None, solved, perf_counter() - began)
