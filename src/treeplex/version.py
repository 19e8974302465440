"""The version of Treeplex that writes a file."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """The installed version of Treeplex; ``unknown`` where it runs without being installed."""
    try:
        return version("treeplex")
    except PackageNotFoundError:
        return "unknown"
