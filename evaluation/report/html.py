"""A report as one HTML file that needs nothing else: style, plots, deals and the viewer's script are all inside."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from evaluation.report import plots
from evaluation.report.build import VERSION
from evaluation.report.markdown import figures_of
from evaluation.report.model import Block, Deals, Report
from evaluation.report.tricks import hand_table, score_table, trick_table
from spades_env import __version__

TEMPLATES: Final = Path(__file__).resolve().parent / "templates"
PAGE, STYLE, SCRIPT = "report.html.j2", "style.css", "viewer.js"


def html(report: Report) -> str:
    """Return the page. Everything that comes from files is text: escaped in tags, and in the deals' JSON as well."""
    script = (TEMPLATES / SCRIPT).read_text(encoding="utf-8")
    text: str = (
        _environment()
        .get_template(PAGE)
        .render(
            report=report,
            deals=[deal for section in report.sections for deal in _deals_of(section.blocks)],
            style=(TEMPLATES / STYLE).read_text(encoding="utf-8"),
            script=script,
            # The browser runs this script and no other, whatever else might have got into the page.
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            version=__version__,
            report_version=VERSION,
        )
    )
    return text


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = prose
    environment.globals.update(
        {
            "intervals_of": plots.draw_intervals,
            "curves_of": plots.draw_curves,
            "histogram_of": plots.draw_histogram,
            "heat_map_of": plots.draw_heat_map,
            "reliability_of": plots.draw_reliability,
            "hand_table": hand_table,
            "trick_table": trick_table,
            "score_table": score_table,
            "figures_of": figures_of,
            "kind_of": lambda block: type(block).__name__,
        }
    )
    return environment


def prose(text: str) -> Markup:
    """Return escaped text in which what stands between backticks is code, as in Markdown."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _deals_of(blocks: Any) -> list[Any]:
    """Return the deals among a section's blocks."""
    found: list[Block] = list(blocks)
    return [deal for block in found if isinstance(block, Deals) for deal in block.deals]
