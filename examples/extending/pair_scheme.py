"""A custom sampling scheme: two of the traverser's actions, one of the others' and of chance, DCFR's discounts.

treeplex sample leduc_poker -a examples/extending/pair_scheme.py:PAIRS -n 20000
"""

from treeplex.solvers import SamplingScheme

PAIRS = SamplingScheme(
    name="pairs",
    summary="two of the traverser's actions, one of the others' and of chance, with DCFR's discounts and learned baselines",
    reference="this file",
    own="subset",
    others="one",
    parameters={"k": 2, "variant": "dcfr"},
    baseline="learned",
)
