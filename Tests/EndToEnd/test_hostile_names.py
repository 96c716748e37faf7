"""What participants call themselves, their tracks and the room never commands the terminal of those who watch."""

import json
import unicodedata

import pytest
from desktop import Desktop
from hostile import IDENTITY, ROOM
from programs import KEYS, Program, mediabridge, python
from terminal import ANEW, COLUMNS, EMPTY, OnTerminal, lines

HARMFUL = {"Cc", "Cf", "Zl", "Zp", "Co"}
# How a line shows the first and the last of the evil.
SHOWN = ("\\u{1b}]0;owned\\u{7}", "\\u{5c}u{1b}\\x1b end")


@pytest.fixture(scope="module")
def room(namespace):
    """The URL of a development server with the hostile participant, and how to enter its network."""
    serving = mediabridge("dev-server", "--port", "17881")
    server = OnTerminal(namespace.command(*serving))
    url = "ws://127.0.0.1:17881"
    participant = Program(namespace.command(*python("hostile.py", "--url", url)))
    participant.wait_for("published")
    yield url, namespace.command
    participant.stop()
    server.process.terminate()
    assert_harmless(server.finish())


def assert_harmless(written):
    """Nothing but text, ends of lines, and what we command a terminal ourselves."""
    text = written.decode().replace("\r\n", "\n").replace(ANEW, "").replace(EMPTY, "")
    found = {f"U+{ord(letter):04X}" for letter in text if letter != "\n" and is_harmful(letter)}
    assert not found, f"{sorted(found)} in {text[-2000:]!r}"


def is_harmful(letter):
    return unicodedata.category(letter) in HARMFUL or letter in "\u3164\ufe0f\U000e0100"


def values(thing):
    """All strings in a JSON value."""
    if isinstance(thing, dict):
        return [found for pair in thing.items() for part in pair for found in values(part)]
    if isinstance(thing, list):
        return [found for part in thing for found in values(part)]
    return [thing] if isinstance(thing, str) else []


COMMANDS = {
    "record": ["--duration", "1s", "--overwrite"],
    "watch": ["--duration", "2s"],
    "probe": ["--duration", "2s"],
    "view": ["--duration", "2s"],
    "publish-test": ["--duration", "1s"],
}
# Who say in text who is there, and who do in JSON.
TELL = {"record", "watch", "probe"}
TELL_MACHINES = {"record", "watch", "probe", "view"}


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_commands_the_terminal(name, room, tmp_path):
    url, enter = room
    with Desktop() as desktop:

        def run(index, *options, is_terminal):
            file = [tmp_path / f"{index}.mkv"] if name == "record" else []
            access = ("--url", url, *KEYS, "--room", ROOM, "--identity", f"{index} {ROOM}")
            command = mediabridge(name, *access, *COMMANDS[name], *options, *file)
            return OnTerminal(enter(*desktop.command(*command)), is_terminal=is_terminal)

        people, machines = [run(0, "--verbose", is_terminal=True)], [run(1, "--json", is_terminal=True)]
        if name == "watch":
            people.append(run(2, is_terminal=False))
            machines.append(run(3, "--json", is_terminal=False))
        for_people, for_machines = ([program.finish() for program in them] for them in (people, machines))
    for written in for_people + for_machines:
        assert_harmless(written)
    for written in for_people:
        assert_shown(written, is_told=name in TELL)
    for written in for_machines:
        events = [json.loads(line) for line in lines(written) if line.strip()]
        assert name not in TELL_MACHINES or IDENTITY in values(events), events[-2:]


def assert_shown(written, is_told):
    """In lines that end, and with what is hostile in it in sight."""
    shown = lines(written)
    assert max(map(len, shown)) <= 1000
    assert not is_told or any(all(part in line for part in SHOWN) for line in shown), shown[-5:]


def test_a_long_name_does_not_push_others_out_of_sight(room):
    url, enter = room
    command = mediabridge("watch", "--url", url, *KEYS, "--room", ROOM, "--duration", "2s")
    heads = [line for line in lines(OnTerminal(enter(*command)).finish()) if line.startswith(("alice", "1 participant"))]
    assert len(heads) >= 2 and max(map(len, heads)) == COLUMNS, heads


def test_a_live_line_stays_in_one_line_of_the_terminal(room, tmp_path):
    url, enter = room
    command = mediabridge("record", "--url", url, *KEYS, "--room", ROOM, "--duration", "5s", tmp_path / "x.mkv")
    written = OnTerminal(enter(*command)).finish().decode()
    live = [part for part in written.split(ANEW) if "\n" not in part and part]
    assert live and max(map(len, live)) <= COLUMNS, live
    assert any(part.startswith("00:00:0") and part.endswith("…") for part in live), live
