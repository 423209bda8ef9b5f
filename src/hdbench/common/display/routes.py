"""The look of all pages, as served pages load it; Starlette is part of the extra `space` only."""

from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from hdbench.common.display.marks import BASE, ICONS, STYLE, TOKENS


def shared_routes() -> list[BaseRoute]:
    """Return the routes of a served page for what it shares with others.

    They are `tokens.css`, `base.css`, `marks.css`, and `icons/` with `icons/icons.css`.
    """
    return [
        *(Route(f"/{path.name}", FileResponse(path)) for path in (TOKENS, BASE, STYLE)),
        Mount("/icons", StaticFiles(directory=ICONS)),
    ]
