"""`spades train`: self-play from a configuration file to a report, with a progress bar on stderr."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from spades_cli.backend import backend_option
from spades_cli.output import INTERRUPTED, announce_compilation, json_option, write_json

if TYPE_CHECKING:
    from evaluation.work.backend import Backend
    from training.config import TrainingConfig
    from training.selfplay import SelfPlayPPO


@click.command(name="train", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("config_files", metavar="CONFIG...", nargs=-1, required=True)
@click.option(
    "--set",
    "overrides",
    metavar="FIELD=VALUE",
    multiple=True,
    help="Override one field of every CONFIG, as --set deals=50000 or --set ppo.games=256. May be repeated.",
)
@click.option("--seed", type=int, help="Short for --set seed=N.")
@click.option("--device", help="Short for --set device=NAME: cpu, cuda, cuda:1.")
@click.option("--runs", default="runs", show_default=True, metavar="DIR", help="Where the run's folder is made.")
@click.option("--resume", is_flag=True, help="Go on with the run in that folder, exactly where it stopped.")
@backend_option
@click.option(
    "--actors",
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that play the shares of the deals (ppo.shares); the result is the same for any number.",
)
@json_option
def command(
    config_files: tuple[str, ...],
    overrides: tuple[str, ...],
    seed: int | None,
    device: str | None,
    runs: str,
    resume: bool,
    backend: Backend,
    actors: int,
    json_path: str | None,
) -> int:
    """Train a policy as CONFIG (a YAML file) says, by self-play unless it says otherwise; a report in runs/<name>/.

    One policy plays all four seats and learns from each seat's own trajectory. Several configurations are stages, run
    one after another; `start: stage:NAME` in a later one begins with the weights of the run NAME. Ctrl-C saves a
    checkpoint and stops; --resume goes on from it, and passes over stages that are finished. The folder holds
    policy.safetensors (an agent for every other command), report.md, learning_curve.png, results.json, config.yaml,
    the checkpoint, policies on the way, and a TensorBoard log.

    With `ppo.shares: 16` a collection of deals is cut into 16 parts, which --actors play at once, here or on a Ray
    cluster (--backend); `ppo.staleness: 1` lets them play on while the policy learns.

    \b
    Examples:
      spades train train/clone.yaml train/selfplay.yaml
      spades train train/scratch.yaml --set name=short --set deals=20000 --seed 2
      spades train runs/selfplay/config.yaml --resume
      spades train train/scratch.yaml --set ppo.shares=16 --backend ray --actors 8
      tensorboard --logdir runs
    """
    from training.config import load_config
    from training.crew import plays_elsewhere
    from training.run import Interrupted, train
    from training.stages import run_stages

    wanted = [*overrides]
    wanted += [f"seed={seed}"] if seed is not None else []
    wanted += [f"device={device}"] if device is not None else []
    configs = [load_config(_config_file(file), wanted) for file in config_files]
    announce_compilation()
    console = Console(stderr=True)

    def stage(config: TrainingConfig, go_on: bool) -> Path:
        if len(configs) > 1:
            console.print(f"Stage {config.name}")
        if actors > 1 or not backend.is_local:
            _tell_who_plays(console, config, plays_elsewhere(config, backend, actors), actors)
        bar = Bar(console, config.deals)
        with bar.progress:
            return train(
                config,
                Path(runs),
                resume=go_on,
                show=bar.show,
                prepare=bar.labelled,
                backend=backend,
                actors=actors,
            )

    try:
        report = run_stages(configs, Path(runs), stage, resume=resume)
    except Interrupted as stop:
        console.print(f"spades: {stop}", soft_wrap=True)
        if len(configs) > 1:
            console.print("or the same command with --resume, for the later stages, too")
        return INTERRUPTED
    results = json.loads((report.parent / "results.json").read_text(encoding="utf-8"))
    if not write_json(results, json_path):
        _print_summary(results["final"], report)
    return 0


def _tell_who_plays(console: Console, config: TrainingConfig, elsewhere: bool, actors: int) -> None:
    """Say where actors have nothing to do."""
    if not elsewhere:
        console.print(f"{config.name}: no policy plays in this stage, so it runs in this process, without actors")
    elif config.ppo.shares < actors:
        console.print(
            f"{config.name}: ppo.shares is {config.ppo.shares}, so no more than that of {actors} actors play at a time"
        )


def _config_file(text: str) -> Path:
    """The file at this path, or the shipped configuration of this name ("train/selfplay.yaml")."""
    from spades_env.configs import config_path

    path = Path(text)
    if path.exists():
        return path
    return config_path(text.removeprefix("configs/"))


def _print_summary(final: dict[str, Any], report: Path) -> None:
    console = Console()
    for opponent, found in final["opponents"].items():
        margin = found["margin"]
        console.print(
            f"against {opponent}: {margin['mean']:+.1f} points per deal "
            f"(95 % interval {margin['low']:+.1f} to {margin['high']:+.1f})"
        )
    for warning in final["warnings"]:
        console.print(f"Warning: {warning}", style="bold red")
    console.print(f"Report: {report}\nLearning curve: {report.with_name('learning_curve.png')}", soft_wrap=True)


class Bar:
    """The progress bar, and a line for every evaluation on the way."""

    def __init__(self, console: Console, deals: int) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}  {task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.progress.add_task("training", total=deals, unit="deals", speed="")
        self.labels: TaskID | None = None

    def labelled(self, there: int, shards: int) -> None:
        """Called after every shard of labels: `there` of all `shards` are."""
        if self.labels is None:
            self.labels = self.progress.add_task("labels", total=shards, unit="shards", speed="")
        self.progress.update(self.labels, completed=there)

    def show(self, model: SelfPlayPPO, entry: dict[str, Any] | None) -> None:
        """Called between collections; `entry` is set after an evaluation."""
        seconds = model.seconds["all"]
        speed = f"{model.decisions_made / seconds:,.0f} decisions/s" if seconds > 0 else ""
        self.progress.update(self.task, completed=min(model.num_timesteps, model.config.deals), speed=speed)
        if entry is None:
            return
        margins = ", ".join(f"{name} {found['margin']['mean']:+.1f}" for name, found in entry["opponents"].items())
        own = entry["deals_log"]
        bidding = f"; table bid {own['table_bid']:.1f}, nil {own['nil_rate']:.1%}" if own else ""
        self.progress.console.print(
            f"{entry['deals']:>9,} deals: points per deal against {margins}{bidding}", soft_wrap=True
        )
        self._show_alarms(entry)

    def _show_alarms(self, entry: dict[str, Any]) -> None:
        """A line for every alarm that something came of, and for going back."""
        from training.alarms import alarm_text

        for alarm in entry["alarms"] if entry["alarm_action"] else []:
            self.progress.console.print(f"Alarm: {alarm_text(alarm)}", style="bold red", soft_wrap=True)
        if entry["rolled_back_to"] is not None:
            self.progress.console.print(
                f"Rolled back to the weights after {entry['rolled_back_to']:,} deals, learning rate halved"
            )
