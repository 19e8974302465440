"""What holds for all tests."""

import pytest

from treeplex import notices


@pytest.fixture(autouse=True)
def kernels_compile_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """What commands print must not depend on which kernels an earlier run left in the cache."""
    monkeypatch.setattr(notices, "_announced", True)
