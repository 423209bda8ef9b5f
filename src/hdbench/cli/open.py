"""Command that opens the home of collections in the browser."""

import os
from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.annotate import say_address
from hdbench.cli.arguments import Port
from hdbench.common import processes
from hdbench.common.display.terminal import page_language, say
from hdbench.common.extras import needed
from hdbench.common.files import check_name, without_links


def command(
    folder: Annotated[Path | None, typer.Argument()] = None,
    *,
    port: Port = 7880,
    browser: bool = True,
) -> None:
    """Open a collection in the browser, from its scans to the finished records.

    Everything that its page does is in files beside the folder, and commands can be used in
    between. Nothing leaves this computer, except what is sent to a model's server that you name.

    Args:
        folder: The collection's folder, as hdbench new writes it; without it, the page begins with
            those used before and a new one.
        browser: Open the address in the browser; otherwise it is only printed.
    """
    with needed("space", "the home needs"):
        from hdbench.collections.home.app import serve_home  # noqa: PLC0415  Starlette is slow to import

    from hdbench.collections.home.collection import opened  # noqa: PLC0415
    from hdbench.collections.home.folder import key_of  # noqa: PLC0415
    from hdbench.collections.home.recent import Recent  # noqa: PLC0415

    recent, path = Recent(), ""
    if folder is not None:
        check_name(folder)
        opened(folder)
        recent.add(folder)
        path = f"{key_of(without_links(folder))}/"
    if address := recent.served_at():
        say("open already:")
        typer.echo(f"{address}{path}")
        if browser:
            _browse(f"{address}{path}")
        return

    def started(address: str) -> None:
        say_address(address)
        if browser:
            _browse(address)

    serve_home(recent, port=port, language=page_language(), path=path, started=started)


_OF_DESKTOP = ("BROWSER", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY")
"""Variables with which a browser finds the desktop."""


def _browse(address: str) -> None:
    """Open an address in the browser, by a process that finds no program in the working folder."""
    processes.start(
        processes.python("webbrowser", address),
        variables={name: os.environ[name] for name in _OF_DESKTOP if name in os.environ},
        stdin=processes.DEVNULL,
        stdout=processes.DEVNULL,
        stderr=processes.DEVNULL,
        start_new_session=True,
    )
