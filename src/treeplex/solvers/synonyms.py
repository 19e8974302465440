"""Synonyms of algorithms in the literature, and answers about those not implemented."""

from collections.abc import Iterable, Mapping

from treeplex.base.spec import nearest, shown
from treeplex.errors import SpecError

SYNONYMS: Mapping[str, str] = {
    "vanilla-cfr": "cfr",
    "cfr-plus": "cfr+",
    "cfrplus": "cfr+",
    "linear-cfr": "lcfr",
    "discounted-cfr": "dcfr",
    "predictive-cfr": "pcfr+",
    "predictive-cfr+": "pcfr+",
    "pcfr": "pcfr+",
    "mccfr": "es-mccfr",
    "mc-cfr": "es-mccfr",
    "monte-carlo-cfr": "es-mccfr",
    "es": "es-mccfr",
    "escfr": "es-mccfr",
    "external-sampling": "es-mccfr",
    "external-sampling-mccfr": "es-mccfr",
    "os": "os-mccfr",
    "outcome-sampling": "os-mccfr",
    "outcome-sampling-mccfr": "os-mccfr",
    "chance-sampling": "cs-mccfr",
    "cscfr": "cs-mccfr",
    "average-strategy-sampling": "as-mccfr",
    "vrmccfr": "vr-mccfr",
    "xfp": "fp",
    "fictitious-play": "fp",
    "greedy-weights": "greedy",
    "regret-matching": "rm",
    "linear-programming": "lp",
    "linear-program": "lp",
    "sequence-form": "lp",
    "sequence-form-lp": "lp",
    "backward-induction": "recursive",
    "magnetic-mirror-descent": "mmd",
    "smooth-predictive-cfr+": "smooth-pcfr+",
    "rtcfr": "rtcfr+",
    "vadcfr": "vad-cfr",
    "wopcfr": "wop-cfr",
}
"""Names as others write them, in lower case and with hyphens, to the name here."""

DEEP = "ReBeL learns by a network (treeplex train rebel GAME), es-mccfr samples large games by tables (treeplex sample GAME)"
LEARNERS: Mapping[str, str] = {
    **{
        name: name
        for name in (
            *("deep-cfr", "sd-cfr", "dream", "escher", "vr-deep-dcfr+", "vr-deep-pdcfr+", "nfsp", "rcfr", "psro", "ned"),
            *("armac", "coma", "a2c"),
            *("qpg", "rpg", "rmpg", "neurd", "r-nad", "ppo", "ppg"),
        )
    },
    "deepcfr": "deep-cfr",
    "single-deep-cfr": "sd-cfr",
    "regression-cfr": "rcfr",
    "rnad": "r-nad",
    "deepnash": "r-nad",
    "deep-nash": "r-nad",
}
"""Names of learners, and as others write them, to the name of ``treeplex train``."""
TABULAR = "of those that are, pcfr+ and dcfr usually converge fastest, and lp is exact"
ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("dqn", "alphazero", "muzero", "alpha-zero", "deepstack"),
            *("player-of-games", "student-of-games", "pog", "sog"),
        ),
        DEEP,
    ),
    **dict.fromkeys(
        (
            *("omd", "oomd", "dilated-omd", "egt", "exploitability-descent", "ed", "cfr-br"),
            *("double-oracle", "do", "xdo", "qre", "agent-qre", "logit", "replicator-dynamics", "alpha-rank"),
        ),
        TABULAR,
    ),
    "rebel": "it is trained and then searches: treeplex train rebel GAME --out DIR",
}
"""What is not an algorithm to solve with, and what to do instead."""


def plain_name(name: str) -> str:
    """A name in lower case, with hyphens."""
    return "-".join(name.lower().replace("_", " ").replace("-", " ").split())


def unknown_algorithm(name: str, known: Iterable[str], what: str = "unknown algorithm") -> SpecError:
    """The error about a name that is none of ``known``: what the field means by it, or else the nearest known name."""
    known, plain = list(known), plain_name(name)
    if plain == "rebel":
        return SpecError(f"rebel is no algorithm to solve with; {ELSEWHERE[plain]}")
    if plain in LEARNERS:
        return SpecError(
            f"{shown(name)} is no algorithm to solve with; it is trained: treeplex train {LEARNERS[plain]} GAME --out DIR"
        )
    if plain in ELSEWHERE:
        return SpecError(f"{shown(name)} is not implemented here; {ELSEWHERE[plain]}")
    meant = plain if plain in known else SYNONYMS.get(plain, "")
    hint = f"; did you mean {meant!r}?" if meant in known else nearest(name, known)
    return SpecError(f"{what} {shown(name)}{hint}")
