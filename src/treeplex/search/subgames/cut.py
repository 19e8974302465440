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
    """The subgames that begin at public belief states and end at a horizon.

    The ranges determine which hands are possible: in hold'em, hands without weight are left out.

    Args:
        game: the game: its public states, a spec or rules; beliefs refer to its states.
        beliefs: where the subgames begin; in hold'em only one.
        horizon: where they end. In hold'em at the end of a street or not at all: ``rounds``, other fields at their defaults.
        gadget: the gadget in front of the roots when a player re-solves; None for none. In hold'em the opponent's range must
            have a weight for every hand that may enter.

    Raises:
        GameError: a subgame that begins after the end of the game, a decision without actions, or no possible pair of hands.
        AlgorithmError: a horizon that this kind of game does not support, or an invalid gadget.
    """
    if gadget is not None and not isinstance(gadget, Gadget):
        raise AlgorithmError(f"{type(gadget).__name__} is not a gadget; give Resolve(...), Maxmargin(...) or a custom Gadget")
    game = public_game(game)
    own: Subgame | None = game.cut(beliefs, horizon, gadget)
    if own is not None:
        return own
    if not isinstance(game, PublicTree):
        raise AlgorithmError(no_public_tree(game))
    return cut_states(game, [pair_state(belief.state) for belief in beliefs], horizon, stacked_ranges(beliefs), gadget)
