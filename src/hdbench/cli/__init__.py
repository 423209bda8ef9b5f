"""The command line. It reads options, calls, and prints, but decides nothing."""

import gc
import os
import sys

from hdbench.cli.app import app
from hdbench.cli.terminal import say, say_error
from hdbench.errors import HdbenchError


def main() -> None:
    """Run the command line; an error is one line on standard error, and exit status 2."""
    # What libraries start imports nothing from the working folder either.
    os.environ["PYTHONSAFEPATH"] = "1"
    # By default cycles are sought after 700 new objects, a twentieth of a short command's time.
    gc.set_threshold(20_000, *gc.get_threshold()[1:])
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(arguments)
    except KeyboardInterrupt:
        say("interrupted", err=True)
        sys.exit(130)
    except (HdbenchError, OSError) as error:
        if len(arguments) < len(sys.argv) - 1:  # --debug, wherever it stands
            raise
        say_error(error)
        sys.exit(2)
