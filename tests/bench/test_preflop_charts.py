"""What ships with preflop charts of charts by a network is what the studies found."""

import json

from bench.preflop_charts import network_distances
from treeplex.holdem.study.preflop_charts import BY_NETWORK, beside_network, shipped_charts


def test_distances_are_those_of_the_results():
    assert json.loads(BY_NETWORK.read_text("utf-8")) == network_distances()
    assert set(network_distances()) <= set(shipped_charts())


def test_a_line_for_each_chart_that_ships():
    found = network_distances()["100bb"]["apart"]
    assert f"differs from this one by {100 * found['first']:.0f}% of play at the first decision, " in beside_network("100bb")
    assert f"{100 * found['after a 3-bet']:.0f}% after a 3-bet" in beside_network("100bb")
    assert "differs from one on 48 flops by 23% of play at the first decision" in beside_network("20bb")
    assert beside_network("runs/deep") == ""
