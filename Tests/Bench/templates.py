"""What a receive pipeline's text says about its decoder."""

import re

from programs import ROOT


def decoder_of(name):
    """The decoder with its options, which the last branch of the text begins with, as in `pipelines/receive/NAME.pipeline` without values of a user's."""
    text = (ROOT / f"pipelines/receive/{name}.pipeline").read_text()
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    filled = re.sub(r"\$\{[\w-]+:-([^}]*)\}", r"\1", lines)
    branch = re.split(r"\bmedia\.", filled)[-1]
    return " ".join(branch.split("!")[1].split())
