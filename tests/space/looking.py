"""What axe-core finds on a page."""

from axe_playwright_python.sync_playwright import Axe
from space.pages import still


class Look:
    """What axe-core finds on the way through a page.

    Attributes:
        found: the state, the rule and the element, for each violation.
    """

    def __init__(self, page):
        self.page = page
        self.found = []

    def at(self, state, within=None):
        """Look at the page, or at one in a frame."""
        within = within or self.page
        still(within)
        rules = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
        for wrong in Axe().run(within, options=rules).response["violations"]:
            self.found.extend((state, wrong["id"], node["html"][:200]) for node in wrong["nodes"])
