"""Policies: reading, writing, tables and evaluation.

A policy of a compiled game is a :class:`Policy`; a policy of a game too large to compile is a :class:`TablePolicy`. Functions
with a policy argument accept any kind: a solution, a file, a mapping, an OpenSpiel policy, ``"uniform"``.
"""

from treeplex.evaluate.playouts import Estimate, HeadToHead, estimate, head_to_head
from treeplex.forms.policies.files import read_policy_header as read_header
from treeplex.forms.policies.files import save_policy as save
from treeplex.forms.policies.neural import NeuralPolicy
from treeplex.forms.policies.sparse import TablePolicy
from treeplex.forms.policies.sparse import load_table_policy as load_table
from treeplex.forms.policies.sparse import save_table_policy as save_table
from treeplex.forms.policies.tabular import Policy, to_dataframe, to_table
from treeplex.forms.policies.unfold import unfold
from treeplex.run.judge import as_policy, distance_to_value, exact_value, expected_values, infostate_regrets
from treeplex.run.judge import load_policy as load

__all__ = [
    "Estimate",
    "HeadToHead",
    "NeuralPolicy",
    "Policy",
    "TablePolicy",
    "as_policy",
    "distance_to_value",
    "estimate",
    "exact_value",
    "expected_values",
    "head_to_head",
    "infostate_regrets",
    "load",
    "load_table",
    "read_header",
    "save",
    "save_table",
    "to_dataframe",
    "to_table",
    "unfold",
]
