"""Named agents that search: ReBeL's networks, and search with exact, custom or zero leaf values."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base.settings import setting
from treeplex.base.spec import Spec
from treeplex.errors import SpecError
from treeplex.forms.sources.load import public_tree
from treeplex.games.base import Game
from treeplex.holdem.rules.public import HoldemGame
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.of_users import load_leaf
from treeplex.search.agents.searching import SearchAgent
from treeplex.search.exact_leaf import ExactLeaf
from treeplex.search.leaf import LeafValue, ZeroLeaf
from treeplex.search.methods import METHOD_NAMES, METHODS
from treeplex.search.named_agents.kind import AgentKind, AgentSettings
from treeplex.search.settings import PlaythroughSettings

SEARCHED = ("method", "depth", "rounds", "endgame")
"""Search settings for public trees that do not apply to hold'em turns (all except the method)."""
ITERATIONS = 128
"""Default iterations per search with a custom leaf."""


@dataclass(frozen=True)
class SearchAgentSettings(AgentSettings):
    """Settings for searching subgames; None means the network's training setting or, without a network, Discounted CFR two
    actions deep."""

    iterations: int | None = setting(None, "iterations per search (none: the network's own, or 128)", low=1)
    think: float | None = setting(None, "seconds per decision (none: as long as the iterations take)", above=0)
    method: str | None = setting(None, "solver of subgames", choices=METHODS, listed=METHOD_NAMES)
    depth: int | None = setting(None, "actions per subgame (0: no limit)", low=0)
    rounds: bool | None = setting(None, "also end subgames at the end of a betting round")
    endgame: int | None = setting(None, "public nodes of the largest endgame that is solved to the end", low=0)
    river: int = setting(64, "iterations per river solution, on hold'em turns", low=1)
    threads: int | None = setting(None, "threads for exact values on hold'em turns (none: one per available core)", low=1)
    drawn: bool | None = setting(
        None,
        "play a random iteration instead of the average policy (none: yes, except on hold'em turns)",
    )

    @property
    def chosen(self) -> dict[str, Any]:
        """Public-tree search settings that were set, by name."""
        return {name: getattr(self, name) for name in SEARCHED if getattr(self, name) is not None}

    def turn_agent(self, game: HoldemGame, source: str | None, generator: np.random.Generator) -> Agent:
        """Create an agent for a hold'em turn from a source of leaf values (None: exact values)."""
        from treeplex.learn.first_street import search as turns
        from treeplex.learn.first_street.agent import turn_agent

        for name in SEARCHED[1:]:
            if getattr(self, name) is not None:
                raise SpecError(
                    f"{name} applies to games with a public tree, while hold'em streets are searched to their end; leave it out"
                )
        agent, net = turn_agent(
            game,
            source,
            generator,
            iterations=self.iterations or turns.ITERATIONS,
            method=self.method or turns.METHOD,
            river=self.river,
            threads=self.threads,
            drawn=bool(self.drawn),
        )
        agent.think = self.think
        iterations, method = agent.settings.iterations, agent.settings.method
        values = f"{source}: river values by a network" if net is not None else "river values solved exactly"
        agent.about = f"{values}, {iterations} iterations of {method} per search"
        if differs := turns.unlike(net, game.spot):
            agent.about += f"; beware: the network was not trained for this spot, which has {', '.join(differs)}"
        return agent


@dataclass(frozen=True)
class RebelAgentSettings(SearchAgentSettings):
    """Settings for ReBeL agents: the network, and search with it."""

    network: str | None = setting(
        None, "a training folder, a net.safetensors, or the name of a shipped network (none: the best shipped one)"
    )
    warm: int | None = setting(None, "iterations that a warm start from a policy network counts as", low=0)
    net: str | None = setting(None, "custom network my.py:NAME, needed if the network was trained with one")


class Rebel(AgentKind):
    """Agent type that searches with a ReBeL value network."""

    name = "rebel"
    text = "searches with a value network, and plays a random iteration of each search"
    source = "Brown, Bakhtin, Lerer and Gong 2020, Combining deep reinforcement learning and search (ReBeL)"
    plays = "two-player games with a public tree; hold'em turns and full-game hold'em"
    example = "rebel(network=runs/dice,iterations=128)"
    settings = RebelAgentSettings

    def takes_time(self, game: Game) -> bool:
        """Whether the agent accepts a time limit, which full-game hold'em does not support."""
        return not isinstance(game.public, PublicHoldem)

    def make(self, game: Game, settings: RebelAgentSettings, generator: np.random.Generator) -> Agent:
        from treeplex.learn.rebel.shipped_nets import REBEL, shipped_name, shipped_nets
        from treeplex.learn.rebel.training.judge import is_shipped, net_of

        source = settings.network or REBEL
        if isinstance(game.public, HoldemGame):
            return settings.turn_agent(game.public, source, generator)
        if isinstance(game.public, PublicHoldem):
            return whole_agent(game.public, settings, generator)
        if not is_shipped(source) and source in shipped_nets():
            source = f"{REBEL}:{source}"
        net = net_of(source, public_tree(game.public))
        searching = net.searching(**settings.chosen, iterations=settings.iterations or net.play_iterations, warm=settings.warm)
        agent = SearchAgent(
            public_tree(game.public),
            net.leaf(public_tree(game.public), settings.net),
            searching,
            generator,
            drawn=settings.drawn is not False,
        )
        agent.think = settings.think
        solved, iterations = net.card["solved"], searching.iterations
        agent.about = f"{shipped_name(net) or source}: trained on {solved:,} subgames, {iterations} iterations per search"
        return agent


def whole_agent(game: PublicHoldem, settings: RebelAgentSettings, generator: np.random.Generator) -> Agent:
    """Create an agent for full-game hold'em, with the raise sizes that its network was trained on.

    Raises:
        SpecError: no shipped network fits and no training folder is named, or an unsupported setting.
        PolicyError: the network was trained on other cards, blinds or stacks.
    """
    from treeplex.holdem.street_search.agent import WholeSearchAgent
    from treeplex.learn.rebel.training.whole import shipped_whole_net, trained_game, whole_net
    from treeplex.learn.rebel.whole.nets import leaf_of

    if settings.think is not None:
        raise SpecError(
            "rebel does not support 'think' in full-game hold'em; set 'iterations', or use an agent that supports "
            "it: endgames, libratus, modicum or, for three or more players, pluribus"
        )
    given = [name for name in ("depth", "rounds", "endgame", "warm", "net") if getattr(settings, name) is not None]
    if given:
        raise SpecError(
            f"{given[0]} does not apply to full-game hold'em, whose streets are searched to their end; give iterations"
        )
    source = settings.network
    if source is None or not os.path.exists(source):
        net = shipped_whole_net(game, source)
        source = f"rebel:{net.path.stem}"
    else:
        net = whole_net(source, None)
    network_game = trained_game(net, game)
    searching = PlaythroughSettings(
        method=settings.method or str(net.settings["method"]), iterations=settings.iterations or net.play_iterations
    )
    agent = WholeSearchAgent(
        game, network_game, leaf_of(net, network_game), searching, generator, drawn=settings.drawn is not False
    )
    agent.about = f"{source}: trained on {net.card['solved']:,} subgames, {searching.iterations} iterations per street"
    return agent


@dataclass(frozen=True)
class LookaheadSettings(SearchAgentSettings):
    """Settings for the leaf value and the search."""

    leaf: str = setting("exact", "leaf values: exact (slow: each iteration solves the rest of the game), zero, or my.py:NAME")


class LookaheadSearch(AgentKind):
    """Agent type that uses depth-limited search with a given leaf value."""

    name = "search"
    text = "depth-limited search with exact, zero or custom leaf values"
    source = "Brown, Bakhtin, Lerer and Gong 2020 (ReBeL), section 6, without a network"
    plays = "two-player games with a public tree; hold'em from the turn on"
    example = "search(depth=2,leaf=exact)"
    settings = LookaheadSettings

    def make(self, game: Game, settings: LookaheadSettings, generator: np.random.Generator) -> Agent:
        if isinstance(game.public, HoldemGame):
            if settings.leaf == "zero":
                raise SpecError("hold'em turns need leaf=exact or a custom leaf, my.py:NAME")
            return settings.turn_agent(game.public, None if settings.leaf == "exact" else settings.leaf, generator)
        leaf: LeafValue = LEAVES[settings.leaf]() if settings.leaf in LEAVES else load_leaf(settings.leaf)
        searching = PlaythroughSettings(**settings.chosen, iterations=settings.iterations or ITERATIONS)
        agent = SearchAgent(public_tree(game.public), leaf, searching, generator, drawn=settings.drawn is not False)
        agent.think = settings.think
        return agent


LEAVES = {"exact": ExactLeaf, "zero": ZeroLeaf}
"""Leaf values by name."""


def names_rebel(text: str) -> bool:
    """Whether a text names a shipped network, a network file, or a training folder."""
    from treeplex.learn.rebel.training.job import is_turn_folder
    from treeplex.learn.rebel.training.judge import is_rebel
    from treeplex.learn.rebel.training.whole import is_whole_folder

    return is_rebel(text) or is_turn_folder(text) or is_whole_folder(text)


def rebel_named(text: str) -> Spec | None:
    """The ReBeL agent spec for a text that :func:`names_rebel` accepts; None for other texts.

    Raises:
        SpecError: ``rebel:`` without a name.
    """
    from treeplex.learn.rebel.training.judge import is_shipped

    if is_shipped(text):
        _, colon, name = text.partition(":")
        if colon and not name:
            raise SpecError(f"{text} names no network; write rebel for the best one, or rebel:NAME")
        return Spec("rebel", {"network": name} if name else {})
    return Spec("rebel", {"network": text}) if names_rebel(text) else None
