"""A report as Markdown: the same blocks, every plot as the table of its figures."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.report.model import (
    Block,
    Code,
    Curves,
    Deals,
    Folded,
    HeatMap,
    Histogram,
    Intervals,
    Reliability,
    Report,
    Section,
    Table,
    Text,
)
from evaluation.report.tricks import hand_table, score_table, trick_table
from evaluation.text import NOTHING, Values, figure, markdown_table, range_text, share


def markdown(report: Report) -> str:
    """Return the page as Markdown."""
    parts = [f"# {_plain(report.title)}"]
    for section in report.sections:
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = (0,)) -> str:
    """Return a Markdown table with cells padded to equal width, numbers at the right."""
    return markdown_table([[_plain(cell) for cell in line] for line in (columns, *rows)], words)


def _plain(text: str) -> str:
    """Return text on one line that begins no tag; a `|` in a cell is `markdown_table`'s business."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("<", "&lt;")


def _section(section: Section) -> list[str]:
    return [f"## {_plain(section.title)}", *[text for block in section.blocks for text in _block(block)]]


def _block(block: Block) -> list[str]:
    """Return the paragraphs of a block."""
    match block:
        case Text(text):
            return [_plain(text)]
        case Code(text, title):
            return [*([_plain(title) + ":"] if title else []), code_text(text)]
        case Folded(title, blocks):
            return [f"### {_plain(title)}", *[text for inner in blocks for text in _block(inner)]]
        case Deals(deals, note):
            return [*([_plain(note)] if note else []), *[text for deal in deals for text in _deal(deal)]]
        case Table(title, columns, rows, words, note):
            return _titled(title, table_text(columns, rows, words), note)
        case _:
            columns, rows = figures_of(block)
            return _titled(block.title, table_text(columns, rows), block.note)


def _deal(deal: Values) -> list[str]:
    """Return a deal as tables."""
    tables = [make(deal) for make in (hand_table, trick_table, score_table)]
    heading = f"### {_plain(deal['title'])} ({_plain(deal['source'])})"
    return [heading, *[text for table in tables if table.rows for text in _block(table)]]


def _titled(title: str, text: str, note: str) -> list[str]:
    return [f"**{_plain(title)}**", text, *([_plain(note)] if note else [])]


def code_text(text: str) -> str:
    """Return code in a fence longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def figures_of(block: Intervals | Curves | Histogram | HeatMap | Reliability) -> tuple[list[str], list[list[str]]]:
    """Return the figures of a plot as columns and rows."""
    match block:
        case Intervals():
            rows = [
                [r.label, r.detail, figure(r.interval["mean"], block.unit), range_text(r.interval, block.unit)]
                for r in block.rows
            ]
            return ["", "of", block.unit, "95 % interval"], rows
        case Curves():
            rows = [
                [s.label, f"{x:,.1f}", figure(mean, block.unit), _range(low, high, block.unit)]
                for s in block.series
                for x, mean, low, high in s.points
            ]
            return ["", block.x_label, block.unit, "95 % interval"], rows
        case Histogram():
            return ["", *block.categories], [[label, *map(share, shares)] for label, shares in block.series]
        case HeatMap():
            rows = [
                [label, *[figure(value, block.unit) for value in values]]
                for label, values in zip(block.rows, block.values, strict=True)
            ]
            return [block.corner, *block.columns], rows
        case Reliability():
            rows = [
                [label, share(b.predicted), share(b.observed), f"{b.n:,}"] for label, bins in block.series for b in bins
            ]
            return ["", "said", "came true", "n"], rows


def _range(low: float | None, high: float | None, unit: str) -> str:
    return NOTHING if low is None or high is None else range_text({"low": low, "high": high}, unit)
