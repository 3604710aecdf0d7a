"""Figures of report pages, and their files."""

import base64
from dataclasses import dataclass
from io import BytesIO

from cellyard import plot
from cellyard.system.files import FileSet


@dataclass(frozen=True)
class Picture:
    """A figure on a page; ``data`` is its picture, a PNG of at most 256 colours in base 64."""

    name: str
    title: str
    text: str
    alt: str
    data: str


def add_figure(files: FileSet, drawn: plot.Drawn) -> Picture:
    """Add a figure to ``files`` as PNG, and as SVG and PDF for print; returns it for the page."""
    content = {kind: plot.saved(drawn, kind) for kind in ("png", "svg", "pdf")}
    for kind, data in content.items():
        files.add(f"{drawn.name}.{kind}", data)
    return Picture(drawn.name, drawn.title, drawn.text, drawn.alt, base64.b64encode(_small(content["png"])).decode())


def _small(png: bytes) -> bytes:
    """The picture in 256 colours, about a third of its size, so that a page of many figures stays below 2 MB."""
    from PIL import Image  # comes with matplotlib

    small = BytesIO()
    Image.open(BytesIO(png)).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return small.getvalue()
