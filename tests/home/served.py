"""The home in a process of its own."""

from annotating.pages import ServedPage


class ServedHome(ServedPage):
    """The home, as the command serves it."""

    def __init__(self, cwd, port, *folder, errors=None):
        super().__init__("-m", "hdbench", "open", *folder, "--port", port, cwd=cwd, errors=errors)
