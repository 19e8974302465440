"""Code shared by re-solving agents: settings, blueprints from files, construction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.sources.load import no_public_tree
from treeplex.games.base import Game
from treeplex.games.public import BETTING
from treeplex.run.judge import as_policy
from treeplex.search.agents.agent import Agent, TableAgent
from treeplex.search.leaf import LeafValue
from treeplex.search.named_agents.kind import ThinkingSettings
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.blueprint import Blueprint
from treeplex.search.resolving.settings import ResolveSettings
from treeplex.search.subgames.horizon import Horizon


@dataclass(frozen=True)
class ResolvingAgentSettings(ThinkingSettings, ResolveSettings):
    """Settings of re-solving agents, including a thinking time."""


def horizon_for(game: Game, rounds: int, depth: int = 0) -> Horizon:
    """Return the horizon of a game's subgames: before or after deals.

    Raises:
        SpecError: the game has no subgames, or ``depth`` is given although subgames end with a betting round.
    """
    if not game.public.cut_after:
        raise SpecError(no_public_tree(game.public))
    if game.public.cut_after != BETTING:
        return Horizon(depth or None, rounds, dealt=rounds > 0 or depth > 0)
    if depth:
        raise SpecError(f"in {game}, subgames end with a betting round; give 'rounds' without 'depth'")
    return Horizon(rounds=rounds)


def policy_agent(game: Game, policy: Any, generator: np.random.Generator | None = None) -> Agent:
    """Create an agent that plays any policy that :func:`treeplex.policies.as_policy` accepts.

    Raises:
        PolicyError, FileError: the policy belongs to another game, or cannot be read.
    """
    custom: Agent | None = game.public.policy_agent(policy, generator)
    return custom or TableAgent(game.public, as_policy(compile_game(game), policy), generator)


def resolving_agent(
    game: Game,
    settings: ResolvingAgentSettings,
    generator: np.random.Generator,
    *,
    horizon: Horizon,
    leaves: LeafValue | Sequence[LeafValue] | None = None,
    blueprint: Blueprint | None = None,
    start: int = 0,
) -> ResolvingAgent:
    """Create a re-solving agent with these settings.

    Raises:
        AlgorithmError, PolicyError, SpecError: the settings conflict with each other or with the game.
    """
    made = ResolvingAgent(game.public, settings, leaves, horizon=horizon, blueprint=blueprint, start=start, generator=generator)
    made.think = settings.think
    return made
