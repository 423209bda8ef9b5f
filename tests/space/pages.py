"""What tests do on the pages of the Space."""

RUN = """() => new Promise((done) => {
  if (document.readyState === "complete") done();
  else addEventListener("load", done);
})"""


def upload(page, name, content):
    """Choose a file, which sends it, and wait for the page of its result."""
    content = content.encode() if isinstance(content, str) else content
    given = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.locator("#file").set_input_files(given)
    page.wait_for_url("**/*id=*")


def done(page):
    """Wait until the work of a page is done."""
    page.locator("#work:not([data-going])").wait_for()


def still(page):
    """Wait until nothing in a page or frame fades or moves any more: else colors are mixed."""
    page.wait_for_function("document.getAnimations().every((each) => each.playState !== 'running')")


def report(page):
    """The report in its frame, whose script has run."""
    inside = page.frame_locator("#report iframe")
    inside.locator("h1").wait_for()
    inside.locator("html").evaluate(RUN)
    return inside
