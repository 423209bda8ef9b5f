"""Command that serves authority files to OpenRefine."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.authorities.reconciliation import read_reconciliation
from hdbench.cli.annotate import say_address
from hdbench.cli.arguments import Port
from hdbench.cli.terminal import say
from hdbench.common.extras import needed


def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…")],
    *,
    port: Port = 7871,
) -> None:
    """Serve your authority files to OpenRefine, which finds the identifiers of your values.

    In OpenRefine, choose Reconcile, Start reconciling, Add standard service, and enter the address
    that is printed. The service is for programs on this computer only.

    Args:
        files: Authority files, as for hdbench annotate: a name on each line of a CSV file, then
            its identifier. Lines with the same identifier are names of the same person or thing,
            the preferred one first. The file's name, such as persons, is the type of its entries.
        port: The port of the service; 0 for any that is free.
    """
    service = read_reconciliation(files)
    if service.unidentified:
        say(
            "note: {count:,} line without an identifier is left out",
            plural="note: {count:,} lines without an identifier are left out",
            count=service.unidentified,
            err=True,
        )
    with needed("space", "the service needs"):
        from hdbench.authorities.server import build_app  # noqa: PLC0415  Starlette is slow to import
        from hdbench.common.loopback import serve_here  # noqa: PLC0415

    serve_here(build_app(service), port=port, path="/", started=say_address)
