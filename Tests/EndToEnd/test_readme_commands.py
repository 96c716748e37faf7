"""The commands of README and of the page for those who know LiveKit Egress, as they stand there."""

import re
import shlex

import pytest
from programs import ROOT
from test_cli_errors import run, said

ENVIRONMENT = ("--url", "ws://127.0.0.1:9", "--api-key", "key", "--api-secret", "secret")


def commands():
    """Those that record or stream, without what follows them on their line."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        if not re.match(r"mediabridge (record|stream) ", line):
            continue
        words = shlex.split(line, comments=True)
        end = next((index for index, word in enumerate(words) if word in ("|", "&", "&&", ">")), len(words))
        yield words[1:end]


def commands_for_requests():
    """Those that the page has in the place of requests to LiveKit Egress."""
    page = (ROOT / "Sources/Egress/Egress.docc/ComingFromLiveKitEgress.md").read_text()
    return [shlex.split(line) for line in re.findall("`(record [^`]+)`", page)]


def test_there_are_commands():
    assert len(list(commands())) > 10 and len(commands_for_requests()) >= 5


@pytest.mark.parametrize("words", [*commands(), *commands_for_requests()], ids=" ".join)
def test_a_command_of_readme_is_one(words):
    """All of it is known and goes together."""
    access = () if "--dev" in words else ENVIRONMENT
    room = () if "--room" in words else ("--room", "r")
    done = run(words[0], *access, *room, "--dry-run", *words[1:])
    assert done.returncode == 0, said(done.stderr)
