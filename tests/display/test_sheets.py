"""Colors can be told apart in both schemes, as WCAG 2.2 computes it."""

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from hdbench.common.display.marks import BASE, STYLE, TOKENS, icon
from hdbench.common.display.routes import shared_routes

COLOR = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
COLORS = {name: colors for name, *colors in COLOR.findall(TOKENS.read_text())}

GROUNDS = ("paper", "sheet", "wash")
TEXTS = [
    *(
        (text, ground)
        for text in ("ink", "quiet", "accent", "good", "bad", "doubt")
        for ground in GROUNDS
    ),
    *((text, f"{of}-wash") for of in ("good", "bad", "doubt") for text in (of, "ink", "quiet")),
    *(("on-accent", "accent"), ("on-view", "view")),
]


def luminance(color: str) -> float:
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXTS)
def test_texts_can_be_read(text: str, ground: str, scheme: int) -> None:
    assert contrast(COLORS[text][scheme], COLORS[ground][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_edges_of_controls_can_be_seen(ground: str, scheme: int) -> None:
    assert contrast(COLORS["edge"][scheme], COLORS[ground][scheme]) >= 3


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # just too pale


def test_sheet_has_a_color_for_each_name_it_gives() -> None:
    text = TOKENS.read_text() + BASE.read_text()
    assert set(re.findall(r"var\(--([a-z0-9-]+)\)", text)) <= set(
        re.findall(r"--([a-z0-9-]+):", text)
    )


def test_pages_get_what_they_share() -> None:
    client = TestClient(Starlette(routes=shared_routes()))
    assert client.get("/tokens.css").text == TOKENS.read_text()
    assert client.get("/base.css").text == BASE.read_text()
    assert client.get("/marks.css").text == STYLE.read_text()
    icons = client.get("/icons/icons.css").text
    addresses = re.findall(r"url\((.+?)\)", icons)
    assert addresses
    for address in addresses:
        assert client.get(f"/icons/{address}").headers["content-type"] == "image/svg+xml"
    assert client.get("/icons/LICENSE").status_code == 200


def test_icon_stands_in_the_page() -> None:
    assert icon("zoom-in").startswith('<span class="icon" aria-hidden="true"><svg')
