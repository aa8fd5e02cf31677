"""The data card: what is in a dataset, how it came about, and how to read it; Markdown, the same for equal datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from evaluation.dataset.columns import COLUMNS
from evaluation.dataset.counts import AgentCounts, Counts
from evaluation.dataset.store import DATA_FOLDER, Entry
from spades_env.engine.state import PHASE_NAMES
from spades_env.rules import Rules

LOAD: Final = f"""```python
from evaluation.dataset.read import open_dataset

for batch in open_dataset("this folder").batches(size=4096, seed=1):
    batch["observation"], batch["mask"], batch["action"], batch["margin"]  # NumPy arrays of 4,096 rows
```

The files are ordinary Parquet; anything that reads Parquet reads `{DATA_FOLDER}/*.parquet`.
"""


def card_of(definition: Mapping[str, Any], command: str, counts: Counts, entries: Mapping[int, Entry]) -> str:
    """Return the card of a complete dataset."""
    size = sum(entry.size for entry in entries.values())
    sections = (
        _front_matter(definition),
        f"# {_title(definition)}\n\n{_summary(definition, command, counts, size, len(entries))}",
        f"## Load\n\n{LOAD}",
        f"## Columns\n\nOrdered by deal, seat and step. No column has nulls.\n\n{_columns(definition)}",
        f"## Decisions\n\n{_decisions(counts)}",
        f"## Agents\n\n{_agents(definition, counts)}",
        f"## Rules\n\n{_rules(definition)}",
    )
    return "\n".join(sections)


def _front_matter(definition: Mapping[str, Any]) -> str:
    """The head that dataset hubs read."""
    return (
        f"---\nlicense: {str(definition['licence']).lower()}\ntags: [spades, card-games, reinforcement-learning]\n"
        f"configs:\n- config_name: default\n  data_files: {DATA_FOLDER}/*.parquet\n---\n"
    )


def _title(definition: Mapping[str, Any]) -> str:
    return f"Decisions in the card game Spades: {', '.join(definition['agents'])}"


def _summary(definition: Mapping[str, Any], command: str, counts: Counts, size: int, files: int) -> str:
    """What there is, in a few lines."""
    seats = [definition["agents"][k] for k in definition["line_up"]]
    rules = Rules.from_dict(definition["rules"])
    lines = [
        f"- {counts.rows:,} decisions of {counts.deals:,} single deals from 0:0; {size:,} bytes in {files:,} "
        f"file{'s' * (files != 1)}, {size / counts.rows:.1f} a decision",
        f"- seats 0 to {len(seats) - 1}: {', '.join(seats)}",
        f"- rules: {rules.preset_name or 'own'}; seed {definition['seed']}; "
        f"{definition['epsilon']:.1%} of decisions at random; a bag is worth {definition['bag_price']:g} in `margin`",
        f"- observations: {definition['encoder']}"
        + (f", {definition['observation_size']} bytes, version {definition['observation_version']}" * _has(definition)),
        f"- made by spades_env {definition['spades_env']}, code {definition['code']}"
        + (f": `{command}`" if command else ""),
        f"- licence: {definition['licence']}",
        "- `margin`, `margin_raw`, `points`, `bid`, `tricks` and `nil` are known only after the deal: no input",
    ]
    return "\n".join(lines) + "\n"


def _has(definition: Mapping[str, Any]) -> bool:
    """Whether there are observations."""
    return bool(definition["observation_size"])


def _columns(definition: Mapping[str, Any]) -> str:
    size = definition["observation_size"]
    rows = [
        (f"`{name}`", f"fixed_size_binary[{size}]" if kind is None else str(kind), meaning)
        for name, kind, meaning in COLUMNS
        if size or name != "observation"
    ]
    return _table(("column", "type", "meaning"), rows)


def _decisions(counts: Counts) -> str:
    rows = [(PHASE_NAMES[k], f"{n:,}", _share(n, counts.rows)) for k, n in enumerate(counts.phases) if n]
    rows.append(("with one legal action", f"{counts.forced:,}", _share(counts.forced, counts.rows)))
    return _table(("phase", "decisions", "share"), rows)


def _agents(definition: Mapping[str, Any], counts: Counts) -> str:
    """What each agent did."""
    names = definition["agents"]
    rows = [(name, *_figures(agent)) for name, agent in zip(names, counts.agents, strict=True)]
    head = ("agent", "hands", "decisions", "at random", "nils", "made", "blind", "mean bid", "mean tricks", "margin")
    bids = [
        (name, *(_share(n, agent.seats) for n in agent.bids)) for name, agent in zip(names, counts.agents, strict=True)
    ]
    return (
        _table(head, rows)
        + "\nMargin: mean points of a hand's team minus the other's. Share of hands by bid, 0 any nil:\n\n"
        + _table(("agent", *map(str, range(len(counts.agents[0].bids)))), bids)
    )


def _figures(agent: AgentCounts) -> tuple[str, ...]:
    ordinary = agent.seats - agent.nils
    bid = sum(n * count for n, count in enumerate(agent.bids)) / ordinary if ordinary else 0.0
    return (
        f"{agent.seats:,}",
        f"{agent.decisions:,}",
        _share(agent.explored, agent.decisions),
        _share(agent.nils, agent.seats),
        _share(agent.made, agent.nils),
        _share(agent.blind, agent.seats),
        f"{bid:.2f}",
        f"{agent.tricks / agent.seats:.2f}",
        f"{agent.margin / agent.seats:+.1f}",
    )


def _rules(definition: Mapping[str, Any]) -> str:
    return _table(("field", "value"), [(f"`{name}`", str(value)) for name, value in definition["rules"].items()])


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
