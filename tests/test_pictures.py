"""Pictures of the documentation: used, in two schemes, with a text, and saying what their data say."""

import re
from io import BytesIO

import cellyard as cy
import mechanisms_figure
import numpy as np
import pictures
import pytest
import tcp_family
from cellyard.show import explorer
from conftest import ROOT
from PIL import Image

#: Pictures of a screen.
SCREENS = {"explorer"}
NAMES = sorted({path.stem.removesuffix("-dark") for path in pictures.FIGURES.glob("*.png")} - SCREENS)


@pytest.mark.parametrize("name", sorted(SCREENS))
def test_a_picture_of_a_screen_has_the_colours_of_today_in_two_schemes(name: str) -> None:
    script = (explorer.FOLDER / "theme.js").read_text(encoding="utf-8")
    sizes = set()
    for colours, suffix in (("LIGHT", ""), ("DARK", "-dark")):
        (listed,) = re.findall(rf"^const {colours} = \[(.*)\];$", script, re.M)
        with Image.open(pictures.FIGURES / f"{name}{suffix}.png") as picture:
            sizes.add(picture.size)
            pixels = np.unique(np.asarray(picture.convert("RGB"), int).reshape(-1, 3), axis=0)
        for colour in re.findall("#(.{6})", listed)[:5]:  # those of five VCs
            near = np.abs(pixels - [int(colour[place : place + 2], 16) for place in (0, 2, 4)]).max(axis=1)
            assert near.min() <= 6, colour
    assert len(sizes) == 1


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_is_on_a_page_in_two_schemes_with_a_text(name: str) -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "python").rglob("*.md")]
    assert any(f"figures/{name}.png)" in page.read_text(encoding="utf-8") for page in pages)
    with (
        Image.open(pictures.FIGURES / f"{name}.png") as light,
        Image.open(pictures.FIGURES / f"{name}-dark.png") as dark,
    ):
        assert light.size == dark.size and len(light.text["Description"]) > 40  # type: ignore[attr-defined]
        assert dark.text == light.text  # type: ignore[attr-defined]
        corners = [picture.convert("RGB").getpixel((1, 1)) for picture in (light, dark)]
        assert corners == [(255, 255, 255), pictures.DARK]


def test_a_dark_picture_keeps_hues_and_is_as_far_from_its_background() -> None:
    colours = [*[(255, 255, 255)] * 30, (0, 0, 0), (0, 114, 178), (204, 121, 167)]
    content = BytesIO()
    Image.fromarray(np.array([colours], np.uint8)).save(content, format="png")
    with Image.open(BytesIO(pictures.in_dark(content.getvalue()))) as made:
        *_, white, black, blue, pink = np.asarray(made.convert("RGB"))[0].tolist()
    assert (tuple(white), tuple(black)) == (pictures.DARK, (255, 255, 255))
    assert blue[2] > blue[1] > blue[0] and sum(blue) > 400
    assert pink[0] > pink[2] > pink[1] and sum(pink) > 330


@pytest.mark.parametrize("name", pictures.OF_PAGES)
def test_a_picture_of_a_page_is_drawn_by_its_commands(name: str) -> None:
    page, scenario, commands = pictures.OF_PAGES[name]
    text = (pictures.DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert all(f"cellyard {command}\n" in text for command in commands) and f"`{scenario}.toml`" in text


def test_sack_continues_first_and_reno_last() -> None:
    reached = {}
    for recovery in tcp_family.FAMILY:
        time, segments = tcp_family.delivered(recovery)
        reached[recovery] = time[np.argmax(segments > max(tcp_family.LOST))]
    assert (
        min(reached, key=lambda name: reached[name]) == "sack"
        and max(reached, key=lambda name: reached[name]) == "reno"
    )


def runs_of(**values: list[float]) -> mechanisms_figure.Runs:
    return {("LAN", name): {"efficiency": of, "fairness": [0.5] * len(of)} for name, of in values.items()}


def test_the_best_mechanisms_are_those_without_a_significant_difference_from_the_highest() -> None:
    found = runs_of(a=[0.5, 0.6, 0.7], b=[0.4, 0.65, 0.6], c=[0.1, 0.2, 0.3], ideal=[1.0, 1.0, 1.0])
    assert mechanisms_figure.best(found, ["a", "b", "c", "ideal"], "LAN", "efficiency", "ideal") == {"a", "b"}
    equal = runs_of(a=[0.5, 0.5], b=[0.5, 0.5], c=[0.4, 0.4])
    assert mechanisms_figure.best(equal, ["a", "b", "c"], "LAN", "efficiency", "") == {"a", "b"}


def test_mechanisms_are_sorted_by_gain_merged_if_alike_and_columns_without_differences_left_out() -> None:
    reference = {"tail drop": [0.4, 0.5, 0.6]}
    found = runs_of(**reference, **{"GFR, one": [0.5, 0.6, 0.7], "GFR, two": [0.5, 0.6, 0.7], "c": [0.7, 0.8, 0.9]})
    with cy.plot.style():
        names = [name for _, name in found]
        drawn = mechanisms_figure.draw(found, names, ["LAN"], apart="", runs=3, tcps="TCP: SACK")
    left = drawn.figure.axes[0]
    assert [text.get_text() for text in left.get_yticklabels()] == ["tail drop", "c", "GFR, one, two"]
    assert [text.get_text() for text in left.texts] == ["0.50", "+0.30", "+0.10"]
    assert drawn.message.startswith("Largest mean gain over tail drop: efficiency +0.30 with c")
    assert re.search(r"within 0.05 of tail drop: Jain's fairness on LAN$", drawn.note)
