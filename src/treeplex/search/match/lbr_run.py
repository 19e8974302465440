"""Runs a local best response against an agent or policy, exactly if there are few public states."""

from collections.abc import Callable, Sequence
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
"""Default number of hands if there are too many public states for exact values."""


@suggests_arguments
def local_best_response(
    game: str | Game | CompiledGame,
    opponent: Any,
    *,
    hands: int | None = None,
    splits: Sequence[int] = (),
    actions: str = "all",
    first_round: int = 0,
    models: int = 1,
    think: float | str | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | bool | None = None,
) -> Winnings:
    """Lower-bound a best response's winnings against an agent, by local best response (Lisý and Bowling 2017).

    In zero-sum games, the mean over seats is a lower bound on the exploitability.

    Args:
        game: two-player poker: a spec, rules, a compiled game, or the game object of an agent.
        opponent: an agent's name with settings (:func:`treeplex.agent`), an agent, or a policy of the game.
        hands: number of hands, alternating between seats. None means exact values for agents with a non-random policy (``draws
            = False``) in games with few public states, and otherwise 2,000. Each hand's payoff is averaged over all private
            hands, so few hands suffice.
        splits: number of times each sampled hand is continued from its first, second, ... public cards; after that, once.
            With agents that solve streets, ``(8, 4)`` narrows the interval in less computing time than more hands.
        actions: actions considered: ``all``, or ``fc`` (fold, check and call) followed by any of ``h`` and ``p`` (the bets
            closest to half pot and pot) and ``a`` (the largest bet), such as ``fcpa``.
        first_round: first betting round in which other actions than check and call are considered, from 0; in hold'em 2 is the
            turn.
        models: number of draws used to model an agent with a random policy.
        think: the agent's time per decision, in seconds or as a text such as ``"500ms"``; None for the agent's own setting.
        seed: random seed.
        progress: False hides progress; None shows it on a terminal, see :func:`treeplex.solve`. A function is called with a
            line of text instead.

    Returns:
        The winnings in both seats with 95% intervals, in the game's units per hand.

    Raises:
        SpecError: the agent does not exist, or ``actions`` cannot be parsed.
        GameError: the game is not two-player poker, or there are fewer than 4 hands.
        PolicyError, FileError: as in :func:`treeplex.agent`.
    """
    moves, say = Moves(actions, first_round), progress if callable(progress) else tell
    with reporting(progress, "local best response"):
        other = seated_opponent(game, opponent, think=think, seed=seed)
        response = LocalBestResponse(other, moves=moves, models=models)
        if hands is None:
            drawn = getattr(other, "draws", None) is not False  # an agent without this attribute may have a random policy
            hands = HANDS if drawn or not few_states(other.game) else 0
        if hands:

            def show(done: int, winnings: Winnings) -> None:
                say(f"local best response: {done:,}/{hands:,} hands, at least {winnings.value:.4g}, error {winnings.error:.2g}")

            values = CheckedDown(other.game.exactly_shared) if other.game.checks_down else None
            return sampled_winnings(response, other, hands, seed=seed, values=values, splits=splits, progress=show)
        decisions = 0

        def count() -> None:
            nonlocal decisions
            decisions += 1
            if decisions % 16 == 0:
                say(f"local best response: {decisions:,} decisions")

        return exact_winnings(response, other, seed=seed, progress=count)


def seated_opponent(game: Any, opponent: Any, *, think: float | str | None = None, seed: int | None = None) -> Agent:
    """Create the agent for a name, an agent or a policy."""
    if is_agent(opponent):
        given: Agent = opponent
        return given
    played = load(game)
    if isinstance(opponent, str):
        return agent(opponent, played, think=think, seed=seed)
    return policy_agent(played, opponent)
