"""The web application: routes and error responses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from treeplex.errors import TreeplexError
from treeplex.web import games, hands, start
from treeplex.web.folder import deleted, files, runs
from treeplex.web.jobs import routes as jobs
from treeplex.web.playing import reviews, tables
from treeplex.web.safety import Access, Guard, problem, retry
from treeplex.web.served import Refusal, ServerState
from treeplex.web.spots import drill, fields, preflop, solutions
from treeplex.web.turns import THREADS

ASSETS = Path(__file__).parent / "assets"
PARTS = (start, fields, jobs, solutions, drill, preflop, files, deleted, tables, hands, reviews, games, runs)
"""Modules whose ``routes`` are served under ``/api``."""
WORDS = {
    404: "there is nothing at this address; see /api/start",
    405: "this method is not allowed here; see /api/start",
}


def make_app(served: ServerState, access: Access | None = None) -> Guard:
    """Create the ASGI application that serves a folder.

    Args:
        served: the server's state.
        access: access rules; by default only this machine has access.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        assert served.work is not None
        current_default_thread_limiter().total_tokens = THREADS
        await served.work.open()
        try:
            yield
        finally:
            served.events.close()
            await served.work.close()
            for close in served.closing:
                close()

    app = FastAPI(title="Treeplex", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan, redirect_slashes=False)
    for part in PARTS:
        app.include_router(part.routes(served))

    @app.get("/api/events")
    async def events() -> StreamingResponse:
        return StreamingResponse(served.events.stream(), media_type="text/event-stream")

    app.mount("/", GZipMiddleware(StaticFiles(directory=ASSETS, html=True)))
    app.add_exception_handler(TreeplexError, answer_error)
    app.add_exception_handler(Refusal, answer_error)
    app.add_exception_handler(RequestValidationError, answer_error)
    app.add_exception_handler(HTTPException, answer_error)
    return Guard(app, access or Access())


def answer_error(request: Request, error: Exception) -> Response:
    """Respond to an expected error with one line as JSON."""
    if isinstance(error, Refusal):
        return JSONResponse(problem(str(error), error.field), error.status, retry(error.status))
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        location = [str(part) for part in first["loc"] if part not in ("body", "query", "path")]
        where = ".".join(location)[:80]
        line = (
            first["msg"].removeprefix("Value error, ")
            if first["type"] != "json_invalid"
            else "the body is not valid JSON; send a JSON object"
        )
        return JSONResponse(problem(f"{where}: {line}" if where else line, location[0][:80] if location else None), 400)
    if isinstance(error, HTTPException):
        return JSONResponse(problem(WORDS.get(error.status_code, str(error.detail))), error.status_code)
    return JSONResponse(problem(str(error)), 400)
