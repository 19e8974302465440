"""Registers the command ``treeplex web``."""

from treeplex.base.wings import Wing

WING = Wing(commands=("treeplex.web.cli",))
