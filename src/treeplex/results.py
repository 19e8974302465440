"""What the verbs of ``tp`` give, to write in annotations: ``compare``, ``judge``, ``structure``, ``train``."""

from typing import TYPE_CHECKING

from treeplex.base.exports import lazy_exports

if TYPE_CHECKING:
    from treeplex.evaluate.judge import Judgement
    from treeplex.forms.structure.classes import Structure
    from treeplex.learn.train.kind import Training
    from treeplex.run.compare import Comparison

_HOMES = {
    "treeplex.evaluate.judge": "Judgement",
    "treeplex.forms.structure.classes": "Structure",
    "treeplex.run.compare": "Comparison",
    "treeplex.learn.train.kind": "Training",
}

__all__ = ["Comparison", "Judgement", "Structure", "Training"]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)
