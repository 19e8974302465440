"""Custom fictitious play: the best response of iteration t enters the average with weight t squared.

treeplex solve kuhn_poker -a examples/extending/quadratic_play.py:QUADRATIC
"""

from treeplex.solvers import FictitiousRule

QUADRATIC = FictitiousRule("quadratic-fp", "averages weighted by t squared", "this file", step=lambda t: 3 / (t + 3))
