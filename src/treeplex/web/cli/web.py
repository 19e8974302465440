"""The command ``treeplex web``."""

from pathlib import Path
from typing import Annotated

import typer

from treeplex.base.version import install_hint
from treeplex.errors import FileError, SpecError
from treeplex.run.cli.shared.commands import command

DEFAULT_FOLDER = Path("runs")
FOLDER_HELP = "Folder to read and write. Other files, except FILE, are not used."
HOST_HELP = "Address to listen on. Addresses other than 127.0.0.1 need a token, which is printed once."


@command("Solve, browse and play in the browser.", place=5, example="web")
def web(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE|FOLDER", help="A solved spot to open, or the folder to serve.")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--folder", metavar="FOLDER", help=f"{FOLDER_HELP} Default: runs.")] = None,
    game: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="SPEC", help="A custom game to play and browse, my.py:MyGame. Repeatable."),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help=HOST_HELP)] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port. Default: 8700, or the next free one.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads for solving. Default: one per available core.")
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Start a local server and open the browser: solve spots, browse strategies, play, follow training runs.

    It serves the files of one folder, to this machine only. Jobs run side by side where memory allows, each in its own process.
    Ctrl-C saves running jobs, which resume when the server restarts in the same folder, even after a crash.

    \b
    Examples:
      treeplex web
      treeplex web runs/turn.spot
      treeplex web --folder spots --port 9000 --no-browser
    """
    try:
        from treeplex.web.served import ServerState
        from treeplex.web.server import listen, serve
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "starlette", "uvicorn", "pydantic", "anyio"):
            raise
        raise SpecError(f"treeplex web needs FastAPI and uvicorn; run: {install_hint('web')}") from error
    from treeplex.engine.threads import checked_threads
    from treeplex.forms.sources.load import load

    if file is not None and not file.exists():
        raise FileError(f"{file} does not exist; name a solved spot or a folder")
    if file is not None and file.is_dir():
        if folder is not None:
            raise SpecError(f"{file} and --folder {folder} are both folders; give only one")
        file, folder = None, file
    games = game or []
    for spec in games:
        load(spec)
    threads = None if threads is None else checked_threads(threads)
    served = ServerState(folder or DEFAULT_FOLDER, file, games, threads)
    listening = listen(host, port)
    shown = f" and {file}" if file is not None else ""
    typer.echo(f"serving {served.folder}{shown} at {listening.address}   (Ctrl-C stops)")
    if listening.token is not None:
        typer.echo(
            "anyone with this address, including the token, can read and write the folder; the connection is not encrypted"
        )
    serve(served, listening, browser=browser)
