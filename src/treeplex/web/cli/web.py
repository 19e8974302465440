"""``treeplex web``: the table in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from treeplex.base.version import install_hint
from treeplex.errors import FileError, SpecError
from treeplex.run.cli.shared.commands import command

DEFAULT_FOLDER = Path("runs")
FOLDER_HELP = "Where files are read and written; nothing outside of it is, but for FILE."
HOST_HELP = "Listen on another address than 127.0.0.1; then a token is asked for, which is printed once."


@command("Solve, look and play in the browser.", place=5, example="web")
def web(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE|FOLDER", help="A solved spot to open, or the folder to serve.")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--folder", metavar="FOLDER", help=f"{FOLDER_HELP} Default: runs.")] = None,
    game: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="SPEC", help="A game of your own to play and look at, my.py:MyGame; may be repeated."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help=HOST_HELP)] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Default: 8700, or the next one that is free.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads for solving. Default: one per core allowed.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
) -> None:
    """Start a server on this machine and open the browser: solve spots, look at every node of them, play, follow trainings.

    It serves the files of one folder to this machine only. Jobs run one after another, each in a process of its own. Ctrl-C
    saves the running job, which goes on when the server is started again on the same folder, as it does after a crash.

    \b
    Examples:
      treeplex web
      treeplex web runs/turn.spot
      treeplex web --folder spots --port 9000 --no-browser
    """
    try:
        from treeplex.web.served import Served
        from treeplex.web.server import listen, serve
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "starlette", "uvicorn", "pydantic", "anyio"):
            raise
        raise SpecError(f"treeplex web needs FastAPI and uvicorn; run: {install_hint('web')}") from error
    from treeplex.engine.threads import checked_threads
    from treeplex.forms.sources.load import load

    if file is not None and not file.exists():
        raise FileError(f"there is no {file}; name a solved spot or a folder")
    if file is not None and file.is_dir():
        if folder is not None:
            raise SpecError(f"{file} and --folder {folder} are two folders; give one")
        file, folder = None, file
    games = game or []
    for each in games:
        load(each)
    threads = None if threads is None else checked_threads(threads)
    served = Served(folder or DEFAULT_FOLDER, file, games, threads)
    listening = listen(host, port)
    shown = f" and {file}" if file is not None else ""
    typer.echo(f"serving {served.folder}{shown} at {listening.address}   (Ctrl-C ends it)")
    if listening.token is not None:
        typer.echo("whoever has this address, token included, can read and write in the folder; it is not encrypted on its way")
    serve(served, listening, browser=browser)
