"""What is wrong with the pages that somebody comes past."""

from axe_playwright_python.sync_playwright import Axe
from helpers.english import words
from space.german import Walk


class Looks:
    """What is wrong with the pages that a reader comes past: in German, on a phone, in the dark."""

    def __init__(self, cards, page, url):
        self.cards, truths = cards, cards.cards.truths.values()
        self.own = words([" ".join(card.values()) for card in truths])
        self.own |= words(["heron otter finch cards plan decisions out finished"])
        self._phone, self._url, self.wrong = page, url, []

    def __call__(self, page, name):
        self.check(page, name)
        self._phone.goto(f"{self._url}{name}")
        self.on_phone(name)

    def on_phone(self, name):
        self.check(self._phone, name)
        walk = Walk(self._phone)
        walk.see(name)
        left = ((text, found - self.own) for text, found in walk.left.items())
        self.wrong += [(name, text, found) for text, found in left if found]

    def check(self, page, name):
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        self.wrong += [
            (name, each["id"], [node["html"] for node in each["nodes"]])
            for each in Axe().run(page).response["violations"]
        ]
        width = page.viewport_size["width"]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            self.wrong.append((name, "is wider than the window", width))
