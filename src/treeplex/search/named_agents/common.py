"""What the agents that solve again have in common: settings, blueprints from files, and the agent made of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.errors import SpecError
from treeplex.games.public import PublicTree
from treeplex.holdem.agents.blueprint_file import blueprint_policy
from treeplex.holdem.agents.spot_blueprint import SpotBlueprint
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.solve.solution import load_solution
from treeplex.holdem.spots.spot import Spot
from treeplex.search.leaf import LeafValue
from treeplex.search.named_agents.kind import ThinkingSettings
from treeplex.search.named_agents.played_game import PlayedGame
from treeplex.search.resolving.agent import ResolvingAgent
from treeplex.search.resolving.blueprint import Blueprint, TableBlueprint
from treeplex.search.resolving.settings import Resolving
from treeplex.search.subgames.horizon import Horizon


@dataclass(frozen=True)
class ResolvingSettings(ThinkingSettings, Resolving):
    """How subgames are solved again, and how long an agent thinks."""


def horizon_for(game: PlayedGame, rounds: int, depth: int = 0) -> Horizon:
    """Where subgames end: after deals on public trees, in hold'em before them.

    Raises:
        SpecError: a depth in hold'em, or a game of another kind.
    """
    if isinstance(game.public, PublicTree):
        return Horizon(depth or None, rounds, dealt=rounds > 0 or depth > 0)
    if not isinstance(game.public, HoldemGame):
        raise SpecError(f"{game} has no subgames that this agent could solve; it plays public trees of two players and spots")
    if depth:
        raise SpecError(f"{game} is hold'em, where subgames end with a street; give rounds and no depth")
    return Horizon(rounds=rounds)


def blueprint_for(game: PlayedGame, file: str, start: int) -> Blueprint:
    """A blueprint from a file or run folder.

    Raises:
        PolicyError, FileError, SpecError: it belongs to another game, or cannot be read.
    """
    if isinstance(game.rules, Spot):
        return SpotBlueprint(load_solution(file).policy)
    return TableBlueprint(game.tree, blueprint_policy(game, file), start)


def resolving_agent(
    game: PlayedGame,
    settings: ResolvingSettings,
    generator: np.random.Generator,
    *,
    horizon: Horizon,
    leaves: LeafValue | Sequence[LeafValue] | None = None,
    blueprint: Blueprint | None = None,
    start: int = 0,
) -> ResolvingAgent:
    """The agent that settings describe.

    Raises:
        AlgorithmError, PolicyError, SpecError: settings that do not fit each other or the game.
    """
    made = ResolvingAgent(game.public, settings, leaves, horizon=horizon, blueprint=blueprint, start=start, generator=generator)
    made.think = settings.think
    return made
