"""``treeplex kernels``: the cache of compiled kernels."""

import typer

from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command, examples_of
from treeplex.run.cli.shared.console import print_json, print_table
from treeplex.run.cli.shared.live import Live


@command("List cached kernels.", place=10, example="list", name="list", group="kernels")
def list_kernels(as_json: Json = False) -> None:
    """List the cached kernels: argument types, CPU, size, last use.

    \b
    Examples:
      treeplex kernels list
    """
    from datetime import date

    from treeplex.engine.kernel_cache import entries, folders

    kernels = list(entries())
    if as_json:
        print_json([entry._asdict() | {"path": str(entry.path)} for entry in kernels])
        return
    print_table(
        ("kernel", "processor", "kB", "last used"),
        [
            (entry.kernel, entry.cpu.split("/")[1], f"{entry.bytes / 1000:,.0f}", str(date.fromtimestamp(entry.used)))
            for entry in kernels
        ],
    )
    total = sum(entry.bytes for entry in kernels)
    typer.echo(f"{len(kernels):,} kernels, {total / 1e6:,.1f} MB in {folders()[0]}")


@command("Compile the kernels before the first run.", place=20, example="warm", group="kernels")
def warm(progress: ShowProgress = None) -> None:
    """Compile all kernels now, so that later commands start without delay.

    This takes a few minutes.

    \b
    Examples:
      treeplex kernels warm
    """
    from time import perf_counter

    from treeplex.run.warm_up import warm_up

    start = perf_counter()
    with Live(progress) as live:
        warm_up(lambda left: live.say(f"compiling kernels for {' and '.join(left)}"))
    typer.echo(f"kernels compiled in {perf_counter() - start:.0f} s")


@command("Remove cached kernels.", place=30, example="clear", group="kernels")
def clear() -> None:
    """Remove all cached kernels; they are recompiled at their next use.

    \b
    Examples:
      treeplex kernels clear
    """
    from treeplex.engine.kernel_cache import clear, folders

    typer.echo(f"{clear():,} kernels removed from {folders()[0]}")


HELP = f"""List, compile or remove compiled kernels.

Kernels (compiled inner loops) are built at first use and cached next to the package, or in the user's cache folder if the
package is not writable. TREEPLEX_KERNELS overrides the folder.

\b
{examples_of((__name__,), "treeplex kernels")}
"""
