"""The list of slow tests names tests that are there, and follows from durations."""

from tests.measured import LIST, slow


def test_every_slow_test_is_there() -> None:
    for name in LIST.read_text("utf-8").splitlines():
        file, _, test = name.partition("::")
        assert f"def {test.partition('[')[0]}(" in (LIST.parent / file).read_text("utf-8"), name


def test_all_but_the_quickest_case_of_a_test_may_be_slow() -> None:
    measured = """
        3.00s call     tests/a.py::test_long@/somewhere
        0.50s setup    tests/a.py::test_begun
        0.50s call     tests/a.py::test_begun
        0.60s setup    tests/a.py::test_cases[one case]@/somewhere
        0.60s call     tests/a.py::test_cases[one case]@/somewhere
        1.10s call     tests/a.py::test_cases[a@b]@/somewhere
        0.70s call     tests/a.py::test_short[x]@/somewhere
    """
    assert slow(measured) == {"a.py::test_long", "a.py::test_cases[one case]"}
