"""Modicum: subgames end with the betting round, where the opponent chooses how a blueprint goes on."""

from dataclasses import dataclass

import numpy as np

from treeplex.evaluate.match.agents import Agent
from treeplex.forms.policies.tabular import Policy
from treeplex.runs.agents.blueprint_file import blueprint_policy
from treeplex.runs.agents.kind import AgentKind
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.resolving import ResolvingSettings, horizon_for, resolving_agent
from treeplex.search.continuations import BlueprintLeaf, biased_policies
from treeplex.search.resolving_agent import NESTED
from treeplex.settings import setting

MOST = 4
"""The blueprint, and the same biased to folding, to calling and to raising."""


@dataclass(frozen=True, kw_only=True)
class ModicumSettings(ResolvingSettings):
    """How Modicum plays."""

    blueprint: str = setting(help="a run folder or policy file")
    continuations: int = setting(MOST, "among how many policies the opponent chooses behind leaves", low=1, high=MOST)
    bias: float = setting(10.0, "how many times as likely the actions of a bias become", above=0)
    rounds: int = setting(1, "betting rounds until a subgame ends", low=1)
    every: str = setting("round", "where subgames begin: at each own decision, or with each betting round", choices=NESTED)


class Modicum(AgentKind):
    """Depth-limited solving with continuations."""

    name = "modicum"
    text = "solves each round again, its end valued by continuations of a blueprint"
    source = "Brown, Sandholm and Amos 2018"
    plays = "games with public states"
    example = "modicum(blueprint=runs/leduc)"
    settings = ModicumSettings

    def make(self, game: PlayedGame, settings: ModicumSettings, generator: np.random.Generator) -> Agent:
        policy: Policy = blueprint_policy(game, settings.blueprint)
        choices = biased_policies(policy, settings.bias)[: settings.continuations] if settings.continuations > 1 else [policy]
        leaves = [BlueprintLeaf(game.tree, policy, {1 - player: choices}) for player in (0, 1)]
        return resolving_agent(game, settings, generator, horizon=horizon_for(game, settings.rounds), leaves=leaves)
