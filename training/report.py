"""The report of a run: a Markdown page with tables and the learning curve as a PNG."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from matplotlib.figure import Figure

from evaluation.machine import machine, versions
from spades_env.files import write_atomically
from training.alarms import alarm_text
from training.bid_report import section
from training.config import TrainingConfig

REPORT_FILE, CURVE_FILE, RESULTS_FILE = "report.md", "learning_curve.png", "results.json"
CONFIG_FILE = "config.yaml"

History = list[dict[str, Any]]


def write_report(folder: Path, config: TrainingConfig, history: History, final: dict[str, Any]) -> Path:
    """Write results.json, learning_curve.png and report.md into `folder`; the path of the report.

    `history`: evaluations on the way, `final`: what `training.run` measured at the end.
    """
    results = {"config": config.model_dump(), "history": history, "final": final}
    results |= {"versions": versions(), "machine": machine()}
    write_atomically(folder / RESULTS_FILE, json.dumps(results, indent=2) + "\n")
    _plot(folder / CURVE_FILE, history)
    write_atomically(folder / REPORT_FILE, _markdown(config, history, final, results))
    return folder / REPORT_FILE


def _plot(path: Path, history: History) -> None:
    figure = Figure(figsize=(8, 6.5), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    deals = [entry["deals"] / 1000 for entry in history]
    for opponent in history[0]["opponents"]:
        margins = [entry["opponents"][opponent]["margin"] for entry in history]
        top.plot(deals, [m["mean"] for m in margins], marker="o", label=f"against {opponent}")
        top.fill_between(deals, [m["low"] for m in margins], [m["high"] for m in margins], alpha=0.2)
    top.axhline(0, color="grey", linewidth=0.8)
    # The first evaluation is of random weights, some -200 points; the plot is about what came after.
    later = [e["opponents"][o]["margin"]["low"] for e in history[1:] for o in e["opponents"]]
    if later:
        top.set_ylim(bottom=min(later) - 5)
    top.set_ylabel("points per duplicate deal")
    top.set_title("Learning curve, greedy policy, 95 % intervals")
    top.legend()
    self_play = [entry for entry in history if entry["deals_log"]]
    x = [entry["deals"] / 1000 for entry in self_play]
    for name, label in (
        ("nil_rate", "seats that bid nil"),
        ("nil_success", "nils made"),
        ("set_rate", "contracts set"),
    ):
        bottom.plot(x, [entry["deals_log"][name] for entry in self_play], marker=".", label=label)
    bottom.set_ylabel("share, in self-play")
    bottom.set_ylim(0, 1)
    bottom.set_xlabel("thousand deals learned from")
    bottom.legend()
    temporary = path.with_name(f".{path.stem}.tmp.png")
    figure.savefig(temporary, dpi=110)
    temporary.replace(path)


def _markdown(config: TrainingConfig, history: History, final: dict[str, Any], results: dict[str, Any]) -> str:
    rates = final["speed"]
    parts = [
        f"# {_title(config)} `{config.name}`",
        f"{final['deals']:,} deals, seed {config.seed}, rules {config.rules!r}, {final['minutes']:.1f} minutes "
        f"of training on {results['machine']['processor']} ({final['threads']} threads, {final['precision']}).",
        "## The trained policy",
        f"Greedy, {config.evaluation.final_deals:,} duplicate deals each (every deal played twice, teams swapped), "
        "points per deal with 95 % intervals. `margin` prices a bag at "
        f"{final['bag_price']:+g} points, `margin_raw` counts bags as scored.",
        final_table(final["opponents"]),
        *_matches(config.evaluation.final_matches, final["opponents"]),
        *[f"**Warning:** {warning}" for warning in final["warnings"]],
        *(["## The bids", section(final["bid_values"])] if "bid_values" in final else []),
        "## On the way",
        f"![learning curve]({CURVE_FILE})",
        _history_table(history),
        *_alarm_lines(history),
        "## Speed",
        f"{rates['deals_per_second']:,.0f} deals/s, {rates['choices_per_second']:,.0f} learned choices/s "
        f"({rates['decisions_per_second']:,.0f} decisions/s with forced ones). Share of the time: engine and "
        f"encoder {rates['engine_share']:.1%}, network {rates['network_share']:.1%}, library and the rest "
        f"{rates['rest_share']:.1%}.",
        "## Again",
        f"```\nspades train runs/{config.name}/config.yaml --set name=again\n```",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in results["versions"].items() if version),
        "```yaml\n" + yaml.safe_dump(config.model_dump(), sort_keys=False) + "```",
    ]
    return "\n\n".join(parts) + "\n"


def _title(config: TrainingConfig) -> str:
    return "Self-play run" if config.opponent is None else f"Response to `{config.opponent}`, run"


def final_table(opponents: dict[str, Any]) -> str:
    """Markdown rows of the final evaluations; a share of nothing is a dash."""
    rows = [
        "| opponent | margin | margin_raw | table bid | nil of seats | nils made | sets | bags |",
        "|---" * 8 + "|",
    ]
    for name, found in opponents.items():
        stats = found["stats"]
        made, sets = _share(stats["nil_success"]), _share(stats["set_rate"])
        rows.append(
            f"| {name} | {_interval(found['margin'])} | {_interval(found['margin_raw'])} | "
            f"{stats['table_bid_mean']:.2f} | {stats['nil_rate']:.1%} | {made} | {sets} | "
            f"{stats['bags_per_deal']:.2f} |"
        )
    return "\n".join(rows)


def _matches(matches: int, opponents: dict[str, Any]) -> list[str]:
    """A sentence on the matches won, if any were played."""
    if matches == 0:
        return []
    rates = {name: found["match_win_rate"] for name, found in opponents.items()}
    won = [f"{name} {rate['mean']:.1%} [{rate['low']:.1%}, {rate['high']:.1%}]" for name, rate in rates.items()]
    return [f"Matches won, of {matches:,} played twice with the same cards, teams swapped: {', '.join(won)}."]


def _history_table(history: History) -> str:
    opponents = list(history[0]["opponents"])
    rows = ["| deals | minutes | " + " | ".join(f"against {name}" for name in opponents) + " |"]
    rows.append("|---" * (2 + len(opponents)) + "|")
    for entry in history:
        margins = " | ".join(_interval(entry["opponents"][name]["margin"]) for name in opponents)
        rows.append(f"| {entry['deals']:,} | {entry['minutes']:.1f} | {margins} |")
    return "\n".join(rows)


def _alarm_lines(history: History) -> list[str]:
    """A paragraph for every evaluation whose alarms something came of."""
    lines = []
    for entry in history:
        if entry.get("alarm_action") is not None:
            told = "; ".join(alarm_text(alarm) for alarm in entry["alarms"])
            back = entry["rolled_back_to"]
            then = "" if back is None else f". Rolled back to the weights after {back:,} deals, learning rate halved"
            lines.append(f"**Alarm** after {entry['deals']:,} deals: {told}{then}.")
    return lines


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _interval(interval: dict[str, float]) -> str:
    half = (interval["high"] - interval["low"]) / 2
    return f"{interval['mean']:+.1f} ± {half:.1f}"
