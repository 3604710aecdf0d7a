"""Pictures of the documentation: each in two schemes, and those that a page's own commands draw."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = DOCS / "figures"
#: Background of dark pages, as red, green and blue.
DARK = (19, 20, 22)
#: Part of a picture in light colours from which it is a map with numbers in its cells.
MAP = 0.07
#: Figures that commands of a page draw: the page, its scenario, and the commands.
OF_PAGES = {
    "tutorial-queue": ("tutorial", "homes", ['run homes.toml --plot homes.png --plot-from "10 s" --plot-to "13 s"']),
    "own-policy": (
        "own-policy",
        "dynamic",
        [
            "run dynamic.toml --grid switch.west.ubr.drop.alpha=1,2,4,8,16,32 --replications 20 --store alpha.sqlite",
            'plot alpha.sqlite --x alpha --y efficiency --title "A larger alpha uses the link better, up to 16" --out alpha.png',
        ],
    ),
}


def keep(name: str, png: bytes) -> None:
    """Write a picture into the documentation, for light and for dark pages."""
    (FIGURES / f"{name}.png").write_bytes(png)
    (FIGURES / f"{name}-dark.png").write_bytes(in_dark(png))


def of_explorer() -> None:
    """Take pictures of the explorer in a browser, in both schemes."""
    sys.path.insert(0, str(DOCS.parent / "tests"))
    from browser import Browser
    from cellyard.commands.explore import explorer_of
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder)) as browser:
        page = Path(folder) / "explore.html"
        page.write_text(explorer_of(None).page(), encoding="utf-8")
        for scheme, name in (("light", "explorer"), ("dark", "explorer-dark")):
            browser.size(1180, 860, scheme)
            browser.open(f"file://{page}#story=fair-share")
            browser.until("window.explorer?.shown.every((side) => side.read && !side.old && !side.runner.busy)")
            browser.picture(FIGURES / f"{name}.png", whole=False)
            with Image.open(FIGURES / f"{name}.png") as picture:
                picture.convert("RGB").quantize(256).save(FIGURES / f"{name}.png", optimize=True)


def in_dark(png: bytes) -> bytes:
    """Return a picture with its lightness inverted, in the same hues."""
    from PIL import Image, PngImagePlugin  # comes with matplotlib

    with Image.open(BytesIO(png)) as picture:
        text, dpi = dict(getattr(picture, "text", {})), picture.info.get("dpi")
        light = np.asarray(picture.convert("RGB"), np.float64)
    most, least = light.max(axis=2, keepdims=True), light.min(axis=2, keepdims=True)
    # Lightness is half the sum of the largest and the smallest part. Lines in a light colour stay
    # rather light. In maps the colours of cells turn as the numbers on them do.
    is_strong = np.clip((most - least - 60) / 30, 0, 1)
    kept = is_strong * np.maximum(most + least - 255, 0) / 2
    turned = light + (255 - most - least) + kept * bool((kept > 0).mean() < MAP)
    ground = np.array(DARK)
    dark = Image.fromarray((ground + turned.clip(0, 255) * (255 - ground) / 255).round().astype(np.uint8)).quantize(256)
    written, metadata = BytesIO(), PngImagePlugin.PngInfo()
    for key, value in text.items():
        metadata.add_text(key, value)
    dark.save(written, format="png", optimize=True, dpi=dpi, pnginfo=metadata)
    return written.getvalue()


def of_page(figure: str) -> None:
    """Draw a figure with the commands of its page."""
    page, scenario, commands = OF_PAGES[figure]
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    (content,) = re.findall(rf'^```toml\n(name = "{scenario}"\n.*?)^```', text, re.M | re.S)
    for line in re.findall(r"^```toml\n(\w+ = .*\n)```", text, re.M):  # which replaces the one of the same field
        field = line.partition(" =")[0]
        content = re.sub(rf"^{field} = .*\n", line.replace("\\", r"\\"), content, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{scenario}.toml").write_text(content, encoding="utf-8")
        for command in commands:
            arguments = [sys.executable, "-m", "cellyard", *shlex.split(command)]
            subprocess.run(arguments, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (drawn,) = Path(folder).glob("*.png")
        keep(figure, drawn.read_bytes())
