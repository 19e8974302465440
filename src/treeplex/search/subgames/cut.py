"""Subgames of any public game, cut at a horizon."""

from collections.abc import Sequence

from treeplex.errors import AlgorithmError
from treeplex.forms.sources.load import no_public_tree, public_game
from treeplex.games.base import Game
from treeplex.games.public import PublicGame, PublicTree, pair_state
from treeplex.search.subgames.batch import cut_states
from treeplex.search.subgames.beliefs import Belief, stacked_ranges
from treeplex.search.subgames.gadgets import Gadget
from treeplex.search.subgames.horizon import TO_THE_END, Horizon
from treeplex.search.subgames.subgame import Subgame


def cut(
    game: PublicGame | str | Game, beliefs: Sequence[Belief], horizon: Horizon = TO_THE_END, *, gadget: Gadget | None = None
) -> Subgame:
    """Create the subgames that begin at public belief states and end at a horizon.

    In hold'em, hands with zero weight in the ranges are left out.

    Args:
        game: the game as public states, a spec or rules; beliefs refer to its states.
        beliefs: the belief at each subgame's root; in hold'em only one.
        horizon: where the subgames end. In hold'em only ``rounds`` may be set: subgames end with a street or with the game.
        gadget: the gadget in front of the roots if a player re-solves; None for none. In hold'em the opponent's range must have
            a positive weight for every hand that may enter.

    Raises:
        GameError: a subgame begins at a terminal state, a decision has no actions, or no pair of hands is possible.
        AlgorithmError: the game does not support the horizon, or the gadget is invalid.
    """
    if gadget is not None and not isinstance(gadget, Gadget):
        raise AlgorithmError(f"{type(gadget).__name__} is not a gadget; give Resolve(...), Maxmargin(...) or a custom Gadget")
    game = public_game(game)
    custom: Subgame | None = game.cut(beliefs, horizon, gadget)
    if custom is not None:
        return custom
    if not isinstance(game, PublicTree):
        raise AlgorithmError(no_public_tree(game))
    return cut_states(game, [pair_state(belief.state) for belief in beliefs], horizon, stacked_ranges(beliefs), gadget)
