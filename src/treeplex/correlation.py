"""Correlation devices: read or build one, find the optimal one, and measure its distance from six kinds of equilibrium."""

from treeplex.evaluate.cce import best_cce, cce_gap, cce_gaps
from treeplex.evaluate.correlation import DeviceJudgement, Distance, Trigger
from treeplex.evaluate.correlation import judge_device as judge
from treeplex.forms.correlation.device import Device
from treeplex.run.devices import device_from_policy as from_policy
from treeplex.run.devices import load_device as load
from treeplex.run.devices import read_device as read
from treeplex.run.devices import save_device as save

__all__ = [
    "Device",
    "DeviceJudgement",
    "Distance",
    "Trigger",
    "best_cce",
    "cce_gap",
    "cce_gaps",
    "from_policy",
    "judge",
    "load",
    "read",
    "save",
]
