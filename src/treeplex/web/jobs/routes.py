"""Routes for jobs; see :mod:`.queue`."""

from collections.abc import Callable, Mapping
from typing import Any

from anyio import to_thread
from fastapi import APIRouter
from fastapi.responses import Response

from treeplex.web.arrays import MEDIA_TYPE
from treeplex.web.jobs.queue import PageJob, Queue
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.served import Refusal, ServerState


def routes(served: ServerState) -> APIRouter:
    """Routes for jobs."""
    router = APIRouter(prefix="/api/jobs")
    queue = served.work = Queue(served)
    steps: Mapping[str, Callable[[Queue, PageJob], None]] = {
        "pause": Queue.pause,
        "stop": Queue.stop,
        "go-on": Queue.go_on,
        "first": Queue.first,
    }

    @router.get("")
    async def jobs() -> dict[str, Any]:
        return queue.listed()

    @router.post("", status_code=201)
    async def add(body: JobRequest) -> dict[str, Any]:
        fitted, left_out = await to_thread.run_sync(body.fitted, served.threads, served.pace)
        return queue.seen(queue.add(fitted, left_out))

    @router.post("/prepare")
    async def prepare() -> dict[str, Any]:
        return {"pace": await queue.prepare()}

    @router.get("/{name}")
    async def job(name: str) -> dict[str, Any]:
        return queue.seen(queue.job(name))

    @router.get("/{name}/node")
    async def node(name: str, line: str = "") -> Response:
        return Response(await queue.node(queue.job(name), line), media_type=MEDIA_TYPE)

    @router.post("/{name}/{step}")
    async def change(name: str, step: str) -> dict[str, Any]:
        if step not in steps:
            raise Refusal(404, f"a job has no step {step[:20]!r}; its steps are {', '.join(steps)}")
        job = queue.job(name)
        steps[step](queue, job)
        return queue.seen(job)

    @router.delete("/{name}")
    async def remove(name: str) -> dict[str, Any]:
        queue.remove(queue.job(name))
        return {}

    return router
