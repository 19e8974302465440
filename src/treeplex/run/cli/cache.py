"""``treeplex cache``: the cache of compiled games."""

import typer

from treeplex.run.cli.shared.arguments import Json
from treeplex.run.cli.shared.commands import command, examples_of
from treeplex.run.cli.shared.console import print_json, print_table


@command("List cached games.", place=10, example="list", name="list", group="cache")
def list_games(as_json: Json = False) -> None:
    """List the cached games: histories, seconds to compile, size, last use.

    \b
    Examples:
      treeplex cache list
    """
    from datetime import date

    from treeplex.forms.compile.game_cache import cached_games, games_folder

    games = list(cached_games())
    if as_json:
        print_json([game._asdict() | {"path": str(game.path)} for game in games])
        return
    print_table(
        ("game", "histories", "seconds", "MB", "last used"),
        [
            (
                game.game,
                f"{game.histories:,}",
                f"{game.seconds:,.1f}",
                f"{game.bytes / 1e6:,.1f}",
                str(date.fromtimestamp(game.used)),
            )
            for game in games
        ],
    )
    where = games_folder()
    total = sum(game.bytes for game in games) / 1e6
    typer.echo("the cache is off" if where is None else f"{len(games):,} games, {total:,.1f} MB in {where}")


@command("Remove cached games.", place=20, example="clear", name="clear", group="cache")
def clear_cache() -> None:
    """Remove all cached games; they are compiled again at their next use.

    \b
    Examples:
      treeplex cache clear
    """
    from treeplex.forms.compile.game_cache import clear_games, games_folder

    removed, where = clear_games(), games_folder()
    typer.echo("the cache is off" if where is None else f"{removed:,} games removed from {where}")


HELP = f"""List or remove compiled games.

Games that take more than a second to compile are cached, up to 2 GB. They are compiled again if their rules, or the code of
Treeplex that they depend on, change. Games in a notebook, and games whose rules read files, are not cached. The cache
is in the folder of compiled kernels, or in the one that TREEPLEX_GAMES names. TREEPLEX_GAMES=off turns the cache off.

\b
{examples_of((__name__,), "treeplex cache")}
"""
