"""Modicum: subgames end with the betting round, where the opponent chooses how a blueprint goes on."""

from dataclasses import dataclass

import numpy as np

from treeplex.errors import SpecError
from treeplex.evaluate.match.agents import Agent
from treeplex.forms.policies.tabular import Policy
from treeplex.runs.agents.kind import AgentKind
from treeplex.runs.agents.played_game import PlayedGame
from treeplex.runs.agents.search.blueprint_file import blueprint_policy
from treeplex.runs.agents.search.common import ResolvingSettings, horizon_for, resolving_agent
from treeplex.search.resolving.agent import NESTED
from treeplex.search.resolving.continuations import BlueprintLeaf, biased_policies
from treeplex.search.resolving.self_generation import generated_policies
from treeplex.settings import setting

BIASED = 4
"""The blueprint, and the same biased to folding, to calling and to raising."""
BIAS, GENERATE = "bias", "self-generative"
"""How continuations are made: biased versions of the blueprint, or best responses to the searches of the first round."""


@dataclass(frozen=True, kw_only=True)
class ModicumSettings(ResolvingSettings):
    """How Modicum plays."""

    blueprint: str = setting(help="a run folder or policy file")
    continuations: int = setting(BIASED, "among how many policies the opponent chooses behind leaves", low=1)
    approach: str = setting(BIAS, "how these are made: biased, or as best responses to searches", choices=(BIAS, GENERATE))
    bias: float = setting(10.0, "how many times as likely the actions of a bias become", above=0)
    rounds: int = setting(1, "betting rounds until a subgame ends", low=1)
    every: str = setting("round", "where subgames begin: at each own decision, or with each betting round", choices=NESTED)

    def check(self) -> None:
        if self.approach == BIAS and self.continuations > BIASED:
            raise SpecError(
                f"continuations must be at most {BIASED} where they are biased, not {self.continuations}; "
                f"approach={GENERATE} makes more"
            )


class Modicum(AgentKind):
    """Depth-limited solving with continuations."""

    name = "modicum"
    text = "solves each round again, its end valued by continuations of a blueprint"
    source = "Brown, Sandholm and Amos 2018"
    plays = "games of two players with a public tree"
    example = "modicum(blueprint=runs/leduc)"
    settings = ModicumSettings

    def make(self, game: PlayedGame, settings: ModicumSettings, generator: np.random.Generator) -> Agent:
        policy: Policy = blueprint_policy(game, settings.blueprint)
        horizon = horizon_for(game, settings.rounds)

        def choices(player: int) -> list[Policy]:
            if settings.continuations == 1:
                return [policy]
            if settings.approach == BIAS:
                return biased_policies(policy, settings.bias)[: settings.continuations]
            return generated_policies(
                game.tree,
                policy,
                player,
                settings.continuations,
                horizon=horizon,
                method=settings.method,
                iterations=settings.iterations,
            )

        leaves = [BlueprintLeaf(game.tree, policy, {1 - player: choices(1 - player)}) for player in (0, 1)]
        return resolving_agent(game, settings, generator, horizon=horizon, leaves=leaves)
