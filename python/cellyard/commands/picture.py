"""Figures of report pages, and their files."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from cellyard import plot
from cellyard.system.files import FileSet


@dataclass(frozen=True)
class Picture:
    """A figure on a page; ``data`` is its PNG file in base 64."""

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
    return Picture(drawn.name, drawn.title, drawn.text, drawn.alt, base64.b64encode(content["png"]).decode())
