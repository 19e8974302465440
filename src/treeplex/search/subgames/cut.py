"""Subgames of any public game, cut at a horizon."""

from collections.abc import Sequence

from treeplex.errors import AlgorithmError
from treeplex.forms.sources.load import public_game
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

    Of the ranges it matters which hands may be held: in hold'em those without weight are left out.

    Args:
        game: the game: its public states, a spec or rules; beliefs are of its states.
        beliefs: where the subgames begin; in hold'em one.
        horizon: where they end. In hold'em at the end of a street or nowhere: ``rounds``, all else as it is.
        gadget: what stands in front of the roots when a player solves again; None for nothing. In hold'em the opponent's range
            must have a weight for every hand that may come in.

    Raises:
        GameError: a subgame that begins where the game is over, rules that give no actions, or no pair of hands.
        AlgorithmError: a horizon that this kind of game does not know, or something that is no gadget.
    """
    if gadget is not None and not isinstance(gadget, Gadget):
        raise AlgorithmError(f"{type(gadget).__name__} is no gadget; give Resolve(...), Maxmargin(...) or a Gadget of your own")
    game = public_game(game)
    own: Subgame | None = game.cut(beliefs, horizon, gadget)
    if own is not None:
        return own
    if not isinstance(game, PublicTree):
        raise AlgorithmError(f"no subgames are made of a {type(game).__name__}")
    return cut_states(game, [pair_state(belief.state) for belief in beliefs], horizon, stacked_ranges(beliefs), gadget)
