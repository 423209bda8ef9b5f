"""The command that serves the Space here."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.cli.app import DEFAULT_OUT, SHARE, app


@app.command(rich_help_panel=SHARE)
def space(
    *,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 is open to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port.", min=1, max=65535)] = 7860,
    namespace: Annotated[
        Path, typer.Option(help="The folder with the built benchmarks.")
    ] = DEFAULT_OUT,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model that visitors may run here: a repository on the Hub, a folder, or "
            "tesseract. Repeat it for several."
        ),
    ] = None,
    results_repository: Annotated[
        str | None,
        typer.Option(
            help="The dataset on the Hub that submissions go to, such as hdb/results.",
            metavar="ID",
        ),
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option(
            envvar="HDBENCH_HELD_OUT",
            help="A folder with held-out ground truths, NAME.held-out.jsonl, of which visitors see "
            "totals only, three times a day.",
            metavar="DIR",
        ),
    ] = None,
    annotate: Annotated[
        Path | None,
        typer.Option(
            envvar="HDBENCH_ANNOTATE_FOLDER",
            help="A folder with collections, whose ground truths can be made in the browser by "
            "those who have an account. Needs --accounts.",
            metavar="DIR",
        ),
    ] = None,
    accounts: Annotated[
        Path | None,
        typer.Option(
            envvar="HDBENCH_ANNOTATE_ACCOUNTS",
            help="The file with their accounts; hdbench space-account writes it.",
            metavar="FILE",
        ),
    ] = None,
    operator: Annotated[
        str | None,
        typer.Option(
            envvar="HDBENCH_OPERATOR",
            help="Who runs this: your institution, as visitors are told under About.",
            metavar="NAME",
        ),
    ] = None,
    contact: Annotated[
        str | None,
        typer.Option(
            envvar="HDBENCH_CONTACT",
            help="Where you can be reached: https://… or mailto:…",
            metavar="ADDRESS",
        ),
    ] = None,
) -> None:
    """Serve the web application: score and compare in the browser."""
    from hdbench.common.extras import needed  # noqa: PLC0415

    with needed("space", "the web application needs"):
        from hdbench.space.app import serve  # noqa: PLC0415  Gradio is slow to import
    from hdbench.space.context import SpaceContext  # noqa: PLC0415

    context = SpaceContext(
        namespace,
        results_repository=results_repository,
        models=tuple(model or ()),
        held_out=held_out,
        annotate=annotate,
        accounts=accounts,
        operator=operator,
        contact=contact,
    )
    serve(context, host=host, port=port, started=typer.echo)


@app.command("space-account", rich_help_panel=SHARE)
def space_account(
    name: Annotated[
        str,
        typer.Argument(
            help="The pseudonym, which stands in the history: a-z, 0-9, _ and -.",
            metavar="PSEUDONYM",
        ),
    ],
    *,
    accounts: Annotated[
        Path,
        typer.Option(
            envvar="HDBENCH_ANNOTATE_ACCOUNTS",
            help="The file with the accounts; made if it is not there.",
            metavar="FILE",
        ),
    ],
) -> None:
    """Give somebody an account for annotating in the Space, or a new password.

    The password is shown once, and kept nowhere. The Space knows it from its next start on.
    """
    from hdbench.common.extras import needed  # noqa: PLC0415

    with needed("space", "accounts need"):
        from hdbench.space.annotate.accounts import add_account  # noqa: PLC0415

    typer.echo(add_account(accounts, name))
