"""Formats of other systems for games, policies and hands: OpenSpiel, Gambit's ``.efg`` and ``.nfg``, LiteEFG's ``.game``, PHH.

``tp.load`` recognises all of these game formats. This module has the individual readers and writers.
"""

from treeplex.forms.policies.openspiel import from_tabular_policy, to_pyspiel_policy, to_tabular_policy
from treeplex.forms.sources.efg_read import read_efg
from treeplex.forms.sources.efg_write import write_efg
from treeplex.forms.sources.liteefg import read_game_file
from treeplex.forms.sources.liteefg_write import write_game_file
from treeplex.forms.sources.nfg_read import read_nfg
from treeplex.forms.sources.openspiel import OpenSpielGame
from treeplex.forms.sources.user_module import load_user_game
from treeplex.holdem.whole.phh import read_phh, write_phh

__all__ = [
    "OpenSpielGame",
    "from_tabular_policy",
    "load_user_game",
    "read_efg",
    "read_game_file",
    "read_nfg",
    "read_phh",
    "to_pyspiel_policy",
    "to_tabular_policy",
    "write_efg",
    "write_game_file",
    "write_phh",
]
