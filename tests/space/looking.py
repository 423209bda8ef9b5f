"""What axe-core finds on a page, and the contrast of edges."""

from axe_playwright_python.sync_playwright import Axe
from space.pages import still

EDGES = """(selector) => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = (each) => {
    for (let node = each.parentElement; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (!/, 0\\)$/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const shown = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  return shown.map((each) => {
    const [a, b] = [light(getComputedStyle(each).borderTopColor), light(behind(each))];
    return Math.max(a, b) / Math.min(a, b);
  });
}"""
"""The contrast of edges with what is behind them (WCAG 2.2, 1.4.11 and its relative luminance)."""


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

    def at_edges(self, advanced):
        """Look at the edges of controls, when the further settings are open."""
        self.page.get_by_role("button", name=advanced).first.click()
        self.page.locator("input[type=radio]:not(:checked)").first.wait_for()
        for control in (".block:has(button input[type=file])", "input[type=radio]:not(:checked)"):
            contrasts = self.page.evaluate(EDGES, control)
            assert contrasts
            assert min(contrasts) >= 3, control
