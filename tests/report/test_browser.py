"""The page in a real browser: it needs Chromium and Playwright, and no network."""

import json
import math

import pytest
from PIL import Image
from playwright.sync_api import expect
from report.test_truth_errors import told

from hdbench.api import score
from hdbench.benchmarks.benchmark import load_benchmark
from hdbench.report.page import report_page

pytestmark = pytest.mark.slow

ATTACK = "window.attacked = true"
RIGHT = {"title": "Stellingen", "year": 1924}
ANSWERS = [
    {"title": f"<script>{ATTACK}</script>", "year": "W" * 3_000},
    {
        f'"><img src=x onerror="{ATTACK}">': f'"><img src="//localhost:9/" onerror="{ATTACK}">',
        "title": "Stelling\x1ben\x07",
        "year": 1924,
        "a" * 500: "Z" + "\u0301" * 2_000,
    },
    {"title": "STELLINGEN", "year": 1925},
    RIGHT,
]


@pytest.fixture
def language():
    return "en"


@pytest.fixture
def file(cards, language):
    """The page of four answers, of which three are wrong, two of them hostile."""
    folder = cards / "hdb/cards"
    rows = [json.loads(line) for line in (folder / "metadata.jsonl").read_text().splitlines()]
    for row in rows:
        row["file_name"] = "card.png"
    (folder / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Image.new("RGB", (980, 600), "grey").save(folder / "card.png")
    lines = [json.dumps({"id": f"000{n}", "prediction": each}) for n, each in enumerate(ANSWERS)]
    (cards / "answers.jsonl").write_text("\n".join(lines))
    result = score(str(folder), cards / "answers.jsonl")
    path = cards / "report.html"
    page = report_page(result, load_benchmark(str(folder)), language=language)
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture
def visit(browser, file):
    """Open the page; whatever it complains of or asks for fails the test."""
    contexts, complaints, requests = [], [], []

    def visit(*, width=1280, path=file, **options):
        context = browser.new_context(
            viewport={"width": width, "height": 800}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield visit
    for context in contexts:
        context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("data:image/", "file:"))] == []
    assert {url for url in requests if url.startswith("file:")} == {file.as_uri()}


def shown(page):
    return [each.inner_text() for each in page.locator(".item:visible h3").all()]


def test_hostile_answers_execute_nothing_and_load_nothing(visit):
    page = visit()
    assert page.evaluate("window.attacked") is None
    assert page.locator(".item").count() == 4
    assert page.get_by_text(f"<script>{ATTACK}</script>", exact=True).count() == 2
    assert page.locator("img").count() == 4 + 3  # of three items also at the top


def test_the_policy_would_stop_a_script_that_was_not_escaped(browser, file, tmp_path):
    html = file.read_text().replace("<main", f"<script>{ATTACK}</script><main", 1)
    html = html.replace("<main", f"<img src=data:, onerror='{ATTACK}'><main", 1)
    (tmp_path / "broken.html").write_text(html)
    page = browser.new_page()
    page.goto((tmp_path / "broken.html").as_uri())
    page.wait_for_load_state("load")
    assert page.evaluate("window.attacked") is None
    assert page.locator("#filter").is_visible()  # its own script ran
    page.close()


def test_items_are_filtered(visit):
    page = visit()
    everything = shown(page)
    assert sorted(everything) == ["0000", "0001", "0002", "0003"]
    assert everything[-1] == "0003"
    status = page.get_by_role("status")
    assert status.inner_text() == "Items 1–4 of 4"

    page.get_by_label("Only with errors").check()
    assert sorted(shown(page)) == ["0000", "0001", "0002"]
    assert status.inner_text() == "Items 1–3 of 3 found"

    page.get_by_label("Kind of error").select_option("capitals")
    assert shown(page) == ["0002"]
    page.get_by_label("Field", exact=True).select_option("year")  # its error is of another kind
    assert shown(page) == []
    page.get_by_label("Kind of error").select_option("Kind of error: any")
    assert sorted(shown(page)) == ["0000", "0002"]

    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".item:not([hidden])")).to_have_count(4)
    page.get_by_label("Search ids and values").fill("stellinge")
    assert sorted(shown(page)) == sorted(everything)  # as all truths have it
    page.get_by_label("Search ids and values").fill("1925")
    assert shown(page) == ["0002"]
    page.get_by_label("Search ids and values").fill("0003")
    assert shown(page) == ["0003"]


def asked_in_a_tab(page, do):
    """The request with which a tab of its own opens, in a browser that reaches no network."""
    asking = page.context.expect_event("request", lambda each: each.is_navigation_request())
    with page.context.expect_page(), asking as asked:
        do()
    return asked.value


def test_truth_error_is_reported_with_the_item_and_its_values(visit):
    page = visit()
    link = page.get_by_role("link", name="Report an error in the ground truth (item 0002;")
    assert link.inner_text().startswith("Report an error in the ground truth")
    address = link.get_attribute("href")
    request = asked_in_a_tab(page, link.click)
    assert request.url == address
    assert "referer" not in request.headers
    title, description = told(request.url)
    assert title == "Error in the ground truth: 0002"
    assert (
        "field: title\n    ground truth: Stellingen\n    a model's answer: STELLINGEN\n"
        in description
    )
    assert "field: year\n    ground truth: 1924\n    a model's answer: 1925\n" in description


def test_each_item_has_its_own_link_with_hostile_values_escaped(visit):
    page = visit()
    links = page.locator(".item a").all()
    assert len(links) == 4
    for link in links:
        assert link.get_attribute("target") == "_blank"
        assert link.get_attribute("rel") == "noopener noreferrer"
        assert link.evaluate("each => each.origin") == "https://huggingface.co"
        assert link.evaluate("each => each.pathname") == "/datasets/hdb/cards/discussions/new"
        assert len(link.evaluate("each => each.href")) < 2_000
    hostile = page.locator(".item", has=page.get_by_role("heading", name="0001")).locator("a")
    _, description = told(hostile.get_attribute("href"))
    assert "a model's answer: Stelling\\x1ben\\x07\n" in description
    assert page.evaluate("window.attacked") is None


def test_the_keyboard_reaches_the_items_right_values(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.locator("*:focus").inner_text() == "Skip to content"
    summary = page.locator(".item summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator(".item details").first.get_attribute("open") is not None


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", [320, 390, 800, 1280])
def test_nothing_is_wider_than_the_screen(visit, width):
    page = visit(width=width)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = """() => [...document.querySelectorAll("main *")].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.right > innerWidth + 1
            && !each.closest("thead, svg, .fields td > div, bdi, .typical");
    }).map((each) => each.outerHTML.slice(0, 80))"""
    assert page.evaluate(wide) == []
    scales = page.locator(".ends span").all()
    assert scales
    assert all(0 <= each.bounding_box()["x"] < width for each in scales)


LABELS = """() => [...document.querySelector(".pairs tr[data-error]").querySelectorAll("td")]
    .map((cell) => getComputedStyle(cell, "::before").content)"""


@pytest.mark.parametrize(
    ("language", "labels"),
    [
        ("en", ["Ground truth", "Answer", "What is wrong"]),
        ("de", ["Referenz", "Antwort", "Abweichung"]),
    ],
)
def test_on_a_phone_each_value_of_a_field_has_its_label(visit, labels):
    page = visit(width=390)
    assert page.evaluate(LABELS) == [f'"{label}"' for label in labels]
    similarity = page.locator(".pairs.alike td").nth(2)
    content = similarity.evaluate("each => getComputedStyle(each, '::before').content")
    assert content in ('"Similarity"', '"Ähnlichkeit"')
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate(LABELS) == ["none"] * 3


def test_pictures_are_loaded(visit):
    page = visit()
    images = page.locator("img").all()
    assert len(images) == 4 + 3
    for image in images:
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("each => each.naturalWidth") == 980


ZOOM = "image => new DOMMatrix(getComputedStyle(image).transform).a"


def scale(page):
    """How large the picture in the window is, as a multiple of its own size."""
    return page.locator("#view img").evaluate(ZOOM)


def test_picture_is_zoomed_and_moved_by_keyboard_and_wheel(visit):
    page = visit()
    picture = page.get_by_role("button", name="Item 0000").last
    picture.press("Enter")
    window = page.get_by_role("dialog", name="Item 0000")
    expect(window).to_be_visible()
    fitted = scale(page)
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert scale(page) == pytest.approx(1.25**2 * fitted, 0.001)
    left = page.locator("#view img").bounding_box()["x"]
    page.keyboard.press("ArrowRight")
    assert page.locator("#view img").bounding_box()["x"] == pytest.approx(left - 40, abs=1)
    page.locator("#view").hover()
    page.mouse.wheel(0, 400)
    expect(window).to_be_visible()
    assert scale(page) == pytest.approx(1.25**2 * fitted / math.e, 0.001)
    window.get_by_role("button", name="Fit").press("Enter")
    assert scale(page) == pytest.approx(fitted, 0.001)
    window.get_by_role("button", name="Rotate").click()
    assert scale(page) == pytest.approx(0, abs=0.001)  # the cosine of a right angle
    page.keyboard.press("Escape")
    expect(window).to_be_hidden()
    expect(picture).to_be_focused()


def test_picture_is_pinched_on_a_phone_and_closed(visit):
    phone = visit(width=390, has_touch=True, is_mobile=True)
    phone.get_by_role("button", name="Item 0000").last.tap()
    window = phone.get_by_role("dialog", name="Item 0000")
    expect(window).to_be_visible()
    fitted = scale(phone)
    touch = phone.context.new_cdp_session(phone)
    for kind, apart in (("touchStart", 40), ("touchMove", 80), ("touchMove", 120)):
        points = [{"x": 195 + sign * apart, "y": 500, "id": sign + 1} for sign in (-1, 1)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    phone.wait_for_timeout(300)  # fingers lifted while moving throw: a tap only stops that
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert scale(phone) == pytest.approx(3 * fitted, 0.05)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    window.get_by_role("button", name="Close").tap()
    expect(window).to_be_hidden()


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const channels = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = channels(colour).slice(0, 3).map((c) => c / 255)
      .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (each) => {
    for (; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (channels(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const texts = [...document.querySelectorAll("body *")].filter((each) =>
    each.checkVisibility() && [...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
  const ratios = texts.map((each) => {
    const [a, b] = [light(getComputedStyle(each).color), light(behind(each))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), each.outerHTML.slice(0, 100)];
  });
  return {count: texts.length, page: light(behind(document.body)),
          low: ratios.filter(([ratio]) => ratio < 4.5)};
}"""


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_text_has_contrast_in_both_schemes(visit, scheme, is_dark):
    page = visit(color_scheme=scheme)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    found = page.evaluate(CONTRAST)
    assert found["count"] > 100
    assert (found["page"] < 0.1) == is_dark
    assert found["low"] == []


def test_every_control_has_a_label_and_every_picture_a_text(visit):
    page = visit()
    for control in page.locator("#filter input, #filter select").all():
        assert control.evaluate("each => each.labels.length") == 1
    assert page.locator("img:not([alt]), img[alt='']").count() == 0
    assert page.locator("main, header, nav[aria-label]").count() == 3
    assert page.locator("html").get_attribute("lang") == "en"
