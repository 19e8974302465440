"""Routes of bulk reviews: jobs, and queries on their files."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from treeplex.holdem.study.review.leaks import csv_text, hands_of, leaks, phh_export, skipped_hands
from treeplex.web.folder.files import download
from treeplex.web.playing.bulk_reviews import BulkRequest, BulkReviews
from treeplex.web.playing.tables import plain
from treeplex.web.served import ServerState

MOST_HANDS, LONGEST = 200, 3_500_000
"""Maximum numbers of hands in a list, and of characters per text."""
KINDS: Mapping[str, tuple[str, str]] = {"csv": ("csv", "text/csv"), "phh": ("phhs", "text/plain")}
"""File suffix and media type of each export format."""


class Named(BaseModel):
    """A review, by its folder."""

    model_config = ConfigDict(extra="forbid")
    file: str = Field(max_length=500)


class AddedText(Named):
    """A text with hands for a review."""

    text: str = Field(min_length=1, max_length=LONGEST)


def routes(served: ServerState) -> APIRouter:
    """Routes for bulk reviews."""
    router, reviews = APIRouter(prefix="/api/reviews"), BulkReviews(served)
    served.closing.append(reviews.close)
    add_jobs(router, reviews)
    add_queries(router, reviews)
    return router


def add_jobs(router: APIRouter, reviews: BulkReviews) -> None:
    """Add the routes that create, start, stop and delete reviews."""

    @router.get("")
    def listed() -> dict[str, Any]:
        return {"reviews": reviews.names(MOST_HANDS)}

    @router.post("", status_code=201)
    def create(body: BulkRequest) -> dict[str, Any]:
        return reviews.state(reviews.create(body))

    @router.post("/texts", status_code=201)
    def add(body: AddedText) -> dict[str, Any]:
        return {"texts": reviews.add(body.file, body.text)}

    @router.post("/start")
    def start(body: Named) -> dict[str, Any]:
        reviews.start(body.file)
        return reviews.state(body.file)

    @router.post("/stop")
    def stop(body: Named) -> dict[str, Any]:
        reviews.stop(body.file)
        return reviews.state(body.file)

    @router.delete("")
    def remove(file: str) -> dict[str, Any]:
        reviews.remove(file)
        return {}

    @router.get("/state")
    def state(file: str) -> dict[str, Any]:
        return reviews.state(file)


def add_queries(router: APIRouter, reviews: BulkReviews) -> None:
    """Add the routes that read a review's file."""

    @router.get("/leaks")
    def grouped(file: str, by: str = "street", where: str = "") -> dict[str, Any]:
        with reviews.opened(file) as data:
            return {"leaks": [asdict(leak) for leak in leaks(data, by.split(","), filters(where))]}

    @router.get("/hands")
    def hands(file: str, where: str = "") -> dict[str, Any]:
        with reviews.opened(file) as data:
            return {"hands": plain(hands_of(data, filters(where), most=MOST_HANDS))}

    @router.get("/skipped")
    def skipped(file: str, reason: str) -> dict[str, Any]:
        with reviews.opened(file) as data:
            return {"hands": skipped_hands(data, reason)[:MOST_HANDS]}

    @router.get("/hand")
    def hand(file: str, id: Annotated[int, Query(ge=0, lt=2**63)]) -> dict[str, Any]:
        with reviews.opened(file) as data:
            return dict(plain(data.hand(id)))

    @router.get("/export")
    def export(file: str, kind: Literal["csv", "phh"], where: str = "") -> Response:
        with reviews.opened(file) as data:
            text = csv_text(data, filters(where)) if kind == "csv" else "".join(phh_export(data, filters(where)))
        suffix, media = KINDS[kind]
        return download(text, media, f"{Path(file).name}.{suffix}")


def filters(where: str) -> dict[str, str]:
    """Filters such as ``street=flop;position=BTN``."""
    return {name: value for name, _, value in (part.partition("=") for part in where.split(";") if part)}
