"""`spades export`: a policy as an ONNX model."""

from __future__ import annotations

import click

from spades_cli.output import check_path


@click.command(name="export", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("policy", metavar="POLICY")
@click.argument("path", metavar="OUT.onnx")
def command(policy: str, path: str) -> int:
    """Write POLICY (a .safetensors file or a run's folder) as an ONNX model to OUT.onnx.

    Several joined by "+" are written as one model, with the option "renamings" too (`spades agents`).

    Input "observation": uint8 (n, inputs), the first bytes of the flat observation. Outputs "logits", float32
    (n, 73), not masked, and "value", float32 (n, 1), points / 100 (of a policy trained with `match`: equity). The
    metadata "knows_match" and "max_deals" say what the observation has to show: if the first is "false", scores, bags
    and the deal's number as 0; and a limit of deals as the second says, 0 for none. Needs the extra `onnx`.

    \b
    Example:
      spades export runs/selfplay selfplay.onnx
      spades export runs/first+runs/second:renamings=6 both.onnx
    """
    check_path(path)
    from agents.learned.onnx import onnx_model
    from agents.learned.policy import load_policy
    from agents.options import read_options
    from agents.registry import POLICY_OPTIONS, split_policy
    from spades_env.files import write_atomically

    paths, options = split_policy(policy)
    agent = load_policy(paths or policy, **read_options(policy, options, POLICY_OPTIONS) if options else {})
    data = onnx_model(agent.net).SerializeToString()
    write_atomically(path, data)
    click.echo(f"{path}: {len(data):,} bytes")
    return 0
