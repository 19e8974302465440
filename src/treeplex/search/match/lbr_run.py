"""Run a local best response against an agent or policy; exact with few public states."""

from collections.abc import Callable
from typing import Any

from treeplex.base.notices import reporting, tell
from treeplex.base.spec import suggests_arguments
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.games.base import Game
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.of_users import is_agent
from treeplex.search.evaluate.lbr import LocalBestResponse, Moves
from treeplex.search.evaluate.winnings import CheckedDown, Winnings, exact_winnings, few_states, sampled_winnings
from treeplex.search.named_agents.common import policy_agent
from treeplex.search.named_agents.registry import agent

HANDS = 2000
"""Hands that are played where nobody says how many, and public states are too many for all of them."""


@suggests_arguments
def local_best_response(
    game: str | Game | CompiledGame,
    opponent: Any,
    *,
    hands: int | None = None,
    actions: str = "all",
    first_round: int = 0,
    models: int = 1,
    think: float | str | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | bool | None = None,
) -> Winnings:
    """What a local best response wins from an agent: a lower bound of what a best response would (Lisý and Bowling 2017).

    Where payoffs sum to zero, the mean over seats is a lower bound of the exploitability.

    Args:
        game: poker for two players: a spec, rules, a compiled game, or the table at which an agent object sits.
        opponent: an agent's name with its settings (:func:`treeplex.agent`), an agent, or a policy of the game.
        hands: to play, in turn in both seats; None for exact values where public states are few and the agent says that it
            draws nothing (``draws = False``), else 2,000. They are seen from all hands that could be held, so few are needed.
        actions: what it considers: ``all`` that is offered; ``fc``, fold, check and call; with ``h``, ``p`` and ``a`` also the
            bets closest to half of the pot, the pot, and the largest: ``fcpa``.
        first_round: before this betting round it only checks and calls; in hold'em 2 is the turn.
        models: number of draws that model an agent which draws how it plays.
        think: time for each of the agent's decisions, seconds or a text such as ``"500ms"``; None for what its settings say.
        seed: of all draws.
        progress: False shows none; None shows it where a person looks, see :func:`treeplex.solve`. A function is called with a
            line of text instead.

    Raises:
        SpecError: no such agent, or actions that cannot be read.
        GameError: no poker for two, or fewer than 4 hands.
        PolicyError, FileError: as :func:`treeplex.agent`.
    """
    moves, say = Moves(actions, first_round), progress if callable(progress) else tell
    with reporting(progress, "local best response"):
        other = seated_opponent(game, opponent, think=think, seed=seed)
        response = LocalBestResponse(other, moves=moves, models=models)
        if hands is None:
            drawn = getattr(other, "draws", None) is not False  # an agent that does not say may draw
            hands = HANDS if drawn or not few_states(other.game) else 0
        if hands:

            def show(done: int, found: Winnings) -> None:
                say(f"local best response: {done:,}/{hands:,} hands, at least {found.value:.4g}, error {found.error:.2g}")

            values = CheckedDown(other.game.exactly_shared) if other.game.checks_down else None
            return sampled_winnings(response, other, hands, seed=seed, values=values, progress=show)
        decisions = 0

        def count() -> None:
            nonlocal decisions
            decisions += 1
            if decisions % 16 == 0:
                say(f"local best response: {decisions:,} decisions")

        return exact_winnings(response, other, seed=seed, progress=count)


def seated_opponent(game: Any, opponent: Any, *, think: float | str | None = None, seed: int | None = None) -> Agent:
    """The agent that is meant by a name, an agent or a policy."""
    if is_agent(opponent):
        found: Agent = opponent
        return found
    played = load(game)
    if isinstance(opponent, str):
        return agent(opponent, played, think=think, seed=seed)
    return policy_agent(played, opponent)
