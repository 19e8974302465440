"""Algorithms by name, and what is refused."""

import pytest

from treeplex.errors import AlgorithmError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.solvers import Rule, Variant, Weights, algorithms, make_solver
from treeplex.solvers.base import GROUPS
from treeplex.solvers.synonyms import ELSEWHERE, SYNONYMS, plain_name

KUHN = compile_game("kuhn_poker")
CFR_FAMILY = [
    "cfr",
    "cfr+",
    "lcfr",
    "dcfr",
    "pcfr+",
    "pdcfr",
    "dcfr+",
    "pdcfr+",
    "apcfr+",
    "sapcfr+",
    "p2pcfr+",
    "apdcfr+",
    "hs-dcfr",
    "hs-pcfr+",
    "wop-cfr",
]
LEARNED = ["ddcfr", "dpcfr+", "pddcfr"]
SAMPLING = ["cs-mccfr", "es-mccfr", "ccs-mccfr", "os-mccfr", "as-mccfr", "rs-mccfr", "vr-mccfr", "pluribus-mccfr"]
JOINT = ["cfr-s", "cfr-jr", "rm"]
RULES = ["smooth-pcfr+", "vad-cfr", "mmd", "rtcfr+"]
NAMES = [*CFR_FAMILY, *LEARNED, "vt-cfr+", "greedy", *RULES, "fp", "linear-fp", "flop", *SAMPLING, *JOINT, "lp", "recursive"]


def test_names() -> None:
    assert list(algorithms()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_algorithm_runs_and_describes_itself(name: str) -> None:
    known = algorithms()[name]
    assert known.name == name
    assert known.summary
    assert known.reference
    game = compile_game("rock_paper_scissors") if name == "rm" else KUHN
    for updates in (None, *known.updates):
        solver = make_solver(game, name, horizon=20, updates=updates)
        assert solver.algorithm == name
        assert solver.updates == (updates or (known.updates[0] if known.updates else ""))
        assert solver.iteration == 0
        assert solver.exact == (name in ("lp", "recursive"))
        solver.run(3)
        solver.run(0)
        assert solver.iteration == 3
        assert len(solver.average_policy()) == len(game.infostates)


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("dcfr(gamma=3, alpha=2)", "dcfr(alpha=2.0,gamma=3.0)"),
        ("dcfr(alpha=1.5)", "dcfr"),
        ("greedy(floor=0)", "greedy(floor=0.0)"),
        ("auto", "vt-cfr+"),
        ("auto(ramp=0.25)", "vt-cfr+(ramp=0.25)"),
    ],
)
def test_canonical_text(spec: str, canonical: str) -> None:
    solver = make_solver(KUHN, spec)
    assert solver.algorithm == canonical
    assert make_solver(KUHN, canonical).algorithm == canonical


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("dcfrr", r"unknown algorithm 'dcfrr'; did you mean 'dcfr'\?"),
        ("xyz", "unknown algorithm 'xyz'; known: apcfr.*, cfr, "),
        ("dcfr(alfa=1)", r"dcfr has no parameter 'alfa'; did you mean 'alpha'\?"),
        ("cfr(alpha=1)", "cfr has no parameter 'alpha'; it takes no parameters"),
        ("dcfr(alpha=much)", "parameter alpha of dcfr must be a number, not 'much'"),
        ("dcfr(alpha=1e999)", "parameter alpha of dcfr must be a finite number, not inf"),
        ("dcfr(alpha=true)", "parameter alpha of dcfr must be a number, not True"),
        ("dcfr(alpha", "no closing bracket"),
        ("", "empty name"),
    ],
)
def test_refused_specs(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_solver(KUHN, spec)


def test_refused_orders_of_updates() -> None:
    with pytest.raises(SpecError, match="updates must be alternating or simultaneous, not 'both'"):
        make_solver(KUHN, "cfr", updates="both")
    with pytest.raises(AlgorithmError, match="greedy is not defined for alternating updates; it supports simultaneous"):
        make_solver(KUHN, "greedy", updates="alternating")
    with pytest.raises(AlgorithmError, match="lp is not defined for alternating updates; it supports neither order"):
        make_solver(KUHN, "lp", updates="alternating")


@pytest.mark.parametrize("spec", ["cfr+(gamma=-1)", "sapcfr+(a=-1)", "greedy(floor=-1)", "greedy(floor=1e999)"])
def test_parameters_out_of_range(spec: str) -> None:
    with pytest.raises(SpecError):
        make_solver(compile_game("kuhn_poker"), spec)


@pytest.mark.parametrize(
    "algorithm",
    [Variant("v", "", "", lambda t, horizon: Weights(), updates="both"), Rule("r", lambda step: step.regrets, updates="both")],
)
def test_unknown_order_of_updates_in_an_algorithm_of_ones_own(algorithm: Variant | Rule) -> None:
    with pytest.raises(SpecError, match="updates must be alternating or simultaneous, not 'both'"):
        make_solver(compile_game("kuhn_poker"), algorithm)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mccfr", r"did you mean 'es-mccfr'\?"),
        ("Outcome_Sampling", r"did you mean 'os-mccfr'\?"),
        ("cfr_plus", r"did you mean 'cfr\+'\?"),
        ("XFP", r"did you mean 'fp'\?"),
        ("sequence form lp", r"did you mean 'lp'\?"),
        ("vt cfr+", r"did you mean 'vt-cfr\+'\?"),
        ("deep_cfr", r"'deep_cfr' is not a solving algorithm; train it: treeplex train deep-cfr GAME --out DIR"),
        ("NFSP", "'NFSP' is not a solving algorithm; train it: treeplex train nfsp GAME"),
        ("DQN", "'DQN' is not implemented; use ReBeL"),
        ("qre", "'qre' is not implemented; use pcfr"),
        ("rebel", "rebel is not a solving algorithm; train it first"),
    ],
)
def test_the_names_of_the_field_are_understood(name: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make_solver(KUHN, name)


@pytest.mark.parametrize(("name", "canonical"), [("CFR+", "cfr+"), ("Dcfr(alpha=2)", "dcfr(alpha=2.0)"), ("AUTO", "vt-cfr+")])
def test_capitals_do_not_matter(name: str, canonical: str) -> None:
    assert make_solver(KUHN, name).algorithm == canonical


def test_synonyms_are_of_algorithms_that_are_here() -> None:
    assert set(SYNONYMS.values()) <= set(algorithms())
    assert not (set(SYNONYMS) | set(ELSEWHERE)) & set(algorithms())
    assert all(plain_name(name) == name for name in (*SYNONYMS, *ELSEWHERE))


def test_every_algorithm_is_in_a_group() -> None:
    assert {each.group for each in algorithms().values()} == set(GROUPS)
