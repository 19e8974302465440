"""Fictitious linear optimistic play exactly as ReBeL's appendix H writes it, with the library's ``FictitiousRule``.

``avg_t = (t-1)/(t+1) avg_{t-1} + 2/(t+1) reply_t`` gives the uniform start weight zero. The library's ``flop`` keeps the start
with weight 1; the released solver keeps it with weight 2 beside replies of weight ``t + 1``.
"""

from treeplex.solvers import FictitiousRule

AS_WRITTEN = FictitiousRule(
    name="flop, as written",
    summary="FLOP with the uniform start dropped from the average",
    reference="Brown, Bakhtin, Lerer and Gong 2020, ReBeL, appendix H",
    step=lambda t: 2.0 / (t + 1.0),
    optimism=lambda t: 2.0 / (t + 2.0),
)
