"""Command that makes an account for annotating in the Space."""

from pathlib import Path
from typing import Annotated

import typer

from hdbench.common.extras import needed


def command(
    name: Annotated[str, typer.Argument(metavar="PSEUDONYM")],
    *,
    accounts: Annotated[Path, typer.Option(envvar="HDBENCH_ANNOTATE_ACCOUNTS", metavar="FILE")],
) -> None:
    """Give somebody an account for annotating in the Space, or a new password.

    The password is shown once, and kept nowhere. The Space knows it from its next start on.

    Args:
        name: The pseudonym, which stands in the history: a-z, 0-9, _ and -.
        accounts: The file with the accounts; made if it is not there.
    """
    with needed("space", "accounts need"):
        from hdbench.space.annotate.accounts import add_account  # noqa: PLC0415

    typer.echo(add_account(accounts, name))
