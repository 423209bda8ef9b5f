"""The home in a process of its own."""

from annotating.pages import ServedPage


class ServedHome(ServedPage):
    """The home, as the command serves it."""

    def __init__(self, cwd, port, *folder, errors=None):
        command = ("-m", "hdbench", "open", "--no-browser", *folder, "--port", port)
        super().__init__(*command, cwd=cwd, errors=errors)
