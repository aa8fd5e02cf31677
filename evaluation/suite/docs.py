"""docs/benchmark.md, written from the tasks: `python -m evaluation.suite.docs` after a change of theirs."""

from __future__ import annotations

import sys
from pathlib import Path

from evaluation.suite.exploit import EXPLOIT_TRAINED
from evaluation.suite.page import describe
from evaluation.suite.task import REFERENCE, SEED
from evaluation.suite.tasks import TASKS

_INTRODUCTION = f"""# The benchmark suite: what an agent can and cannot do

```
spades benchmark normal                                   # the suite core, a table and DIR/benchmark.md
spades benchmark --suite full --out bench hard runs/first # all tasks, two agents
spades benchmark --only "nil|endgames" --scale 0.1 hard   # a quick look at some
spades benchmark --list                                   # tasks, sizes, decisions
```

`spades evaluate` says who is better; the suite says at what. Each task takes one skill out of the game and measures
it on frozen deals or positions, with a 95 % interval. This page is written by `python -m evaluation.suite.docs`
from the tasks themselves.

## How it is measured

- **Frozen.** Deals come from the seed {SEED}, which is not an option. Positions lie in `evaluation/suite/data`,
  with the exact values of every choice; `python -m evaluation.suite.make` made them, and they keep what `normal`
  was then. Nothing is left out because she plays otherwise now: every position counts, with the values it was
  frozen with, also the few whose course today's `normal` would not have played (`played_otherwise` says how many: 19
  of 300 in `endgames`, none in the other tasks), some of which have no world left under her. A task's
  version rises when the same agent would get other figures; results of different versions are not compared.
- **The reference.** Frozen roles (opponents, the cards in `bid_only`, the bids in `play_only`, the rest of the
  table in the nil tasks) are played by `{REFERENCE}` of the program's version, not by a copy of an older one. A
  result keeps that version and a hash of the source of rules and agents (`code`); where the hash has changed since,
  it is marked †.
- **Exact zeros.** In a margin `{REFERENCE}` against herself is exactly 0, or 50 % of the matches; a figure of another
  agent is what she does differently, not luck of the cards.
- **Intervals.** Mean ± 1.96 standard errors over independent deals, starts or positions: all that is played with
  the same cards is one observation. Matches: Wilson's interval for pairs (docs/evaluation.md). In `exploit_small`
  bounds instead, see there.
- **Repeatable.** Same agent, task and version: the same figures, whatever the batch size, order or machine, unless
  the agent looks at the clock (`ms`) or computes in floating point that differs (trained policies).
- **`--scale`** plays so many times as many games, of positions at most all. It is for quick looks: such results are
  marked and are not comparable with those at scale 1.
- **Illegal actions** are counted, replaced by the lowest legal action and shown beside the figure.

## Running it

Each finished task is kept in DIR/results.json (`--out`, default `benchmark`) at once. The same command goes on
after an interruption and only shows what is finished; more agents or the other suite add to it. A result belongs to
the task and its version, the agent's text and the files behind it (docs/evaluation.md), scale, and the version of
spades_env; `cross_play` to the other agents of the command as well. `--workers N` runs whole tasks in N processes, the
longest first, to the same figures; with `--backend ray` on a cluster (docs/cluster.md). DIR/benchmark.md has the table,
further figures, times and definitions.

How long: the agent's decisions (`--list`, below) times her time per decision; the frozen players and the rest take
under a minute. `core` is {{core:,}} decisions, `full` without `{EXPLOIT_TRAINED.id}` {{full:,}}: a minute for a rule
bot, of which most is compiling and making equity tables, {{hard:.0f}} minutes and {{hard_full:.0f}} for an agent at a
millisecond a decision. For one at 30 milliseconds it takes hours: choose with `--only`. `{EXPLOIT_TRAINED.id}` trains
for two to eight minutes on a core, and asks for {{trained:,}} decisions: an hour at a millisecond;
`--only "^(?!exploit_trained)"` leaves it out.

Two things an agent can be asked are optional: `nil_chances(views, keys)` and `beliefs(views, keys)`
(`agents.base.NilForecaster`, `Believer`). `normal` says the first, `hard` and `expert` say both; where an agent
does not say, the figure is null with the reason.

## Reference results

[benchmark_results.md](benchmark_results.md) has them, made by

```
spades benchmark --suite full --only "^(?!exploit_t)" random lowest highest conservative suit_odds easy normal hard
cp benchmark/benchmark.md docs/benchmark_results.md
```

Below them stand `expert` and `{EXPLOIT_TRAINED.id}`, with their commands.

## The JSON

`DIR/benchmark.json`, or `--json PATH` (`-` is stdout). Names do not change.

| field | meaning |
| --- | --- |
| `command`, `suite`, `scale`, `comparable` | what was asked for; `comparable`: the scale is 1 |
| `reference` | the agent in the frozen roles |
| `tasks[]` | what the tasks are, below: `id`, `version`, `title`, `definition`, `metric`, `unit`, ... |
| `results[]` | one for each agent and task: `agent`, `task`, `task_version` and the fields below |
| `versions`, `machine` | of the process that wrote the file |

| field of a result | meaning |
| --- | --- |
| `headline` | `mean`, `low`, `high` of the task's metric, or null |
| `reason` | why `headline` is null, else null |
| `n`, `games` | independent observations; games of the task that were played |
| `scale`, `comparable` | as above |
| `figures` | further figures of the task, below |
| `illegal_actions` | how often the agent chose what was not allowed |
| `decisions`, `ms_per_decision` | her decisions, warm-ups included, and wall time spent in `act` for each |
| | (`exploit_trained`: 0 and null, as the training asks her) |
| `seconds` | wall time of the task |
| `code`, `same_code` | hash of the source of rules and agents, and whether it is still that |
| `versions`, `machine` | on what it was measured |

| figures | of | meaning |
| --- | --- | --- |
| `margin_raw` | margins | the margin with bags and penalties as scored |
| `stats`, `opponent_stats` | duels | what both sides did, the fields of docs/evaluation.md |
| `bags_per_deal`, `penalty_per_deal`, `set_rate`, and with `opponent_` | `bag_control` | of a team and deal |
| `conservative`, `conservative_deals` | `one_deal` | the margin against `conservative`, and on how many deals |
| `by_rules` | `transfer` | the margin under each rule set that the agent plays |
| `by_partner` | `ad_hoc` | `gain`, `margin`, `reference_margin` beside each partner |
| `worst_partner`, `worst_gain` | `ad_hoc` | the partner with the lowest gain, and it |
| `self_play` | `cross_play` | the margin beside herself |
| `by_partner` | `cross_play` | `gap`, `margin`, `partner_self_play`: the row of the matrix |
| `nil_decision` | `nil_decision` | `right_nil`, `missed_nil`, `wrong_nil`, `right_other`: positions |
| `regret_by_place` | `nil_decision` | mean regret by bids made before hers, 0 to 3 |
| `calibration` | `nil_decision` | `brier`, `brier_floor`, `ece`, `mean_said`, `mean_made`, `bins`, `n`, or `reason` |
| `calibration.bins[]` | `nil_decision` | ten equal bins of her chances, empty ones left out: `predicted` and |
| | | `observed`, the means of the chances and of the shares made, and `n` positions |
| `first_card_right` | nil tasks | share of positions in which her first card keeps what the solver promises |
| `success_after_right_card`, `success_after_wrong_card` | nil tasks | the metric after either, or null |
| `best_card_share`, `regret_by_tricks_left` | `endgames` | share without regret; mean regret by tricks left |
| `played_otherwise` | `endgames` | positions whose course is not what `normal` of the program's version plays |
| `uniform`, `gain_over_uniform` | `beliefs` | log-loss of all layouts alike; how much less hers is |
| `by_trick`, `uniform_by_trick` | `beliefs` | log-losses by tricks played |
| `by_game` | `exploit_small` | the bounds in each small game, and their middle |
| `keys`, `information_sets` | `exploit_small` | keys at each information set, and how many sets there were |
| `exploitability_at_least` | `exploit_trained` | the lower bound: the margin's lower end, or 0 |
| `budget` | `exploit_trained` | deals that were learned from |

## The tasks
"""


def page() -> str:
    """The whole text of docs/benchmark.md."""
    full = sum(task.games * task.decisions for task in TASKS if task is not EXPLOIT_TRAINED)
    core = sum(task.games * task.decisions for task in TASKS if task.core)
    trained = EXPLOIT_TRAINED.games * EXPLOIT_TRAINED.decisions
    introduction = _INTRODUCTION.format(
        core=round(core), full=round(full), hard=core / 60_000, hard_full=full / 60_000, trained=round(trained)
    )
    return introduction + "\n" + "\n\n".join(describe(task) for task in TASKS) + "\n"


def main(arguments: list[str]) -> None:
    """Write the page to the path given, docs/benchmark.md by default."""
    path = Path(arguments[0]) if arguments else Path("docs/benchmark.md")
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
