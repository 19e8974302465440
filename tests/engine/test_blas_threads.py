"""NumPy's products with one thread, and with as many as before afterwards."""

from collections.abc import Iterator

import pytest

from treeplex.engine.blas_threads import BlasThreads, blas_threads, one_blas_thread


@pytest.fixture
def threads() -> Iterator[BlasThreads]:
    """NumPy's OpenBLAS with two threads."""
    found = blas_threads()
    if found is None:
        pytest.skip("NumPy's BLAS is not an OpenBLAS that says how many threads it has")
    begun = found.get()
    found.set(2)
    yield found
    found.set(begun)


def test_one_thread_inside_as_many_as_before_outside(threads: BlasThreads) -> None:
    with one_blas_thread():
        assert threads.get() == 1
    assert threads.get() == 2


def test_another_blas_is_left_alone(threads: BlasThreads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeplex.engine.blas_threads.blas_threads", lambda: None)
    with one_blas_thread():
        assert threads.get() == 2
