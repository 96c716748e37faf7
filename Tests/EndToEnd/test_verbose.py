"""What --verbose tells, and what no log and no process list may tell."""

import subprocess
from pathlib import Path

from failures import after
from programs import mediabridge
from terminal import OnTerminal, lines

SECRET = "a-secret-that-is-looked-for-0815"


def serve(start):
    server = start(mediabridge("dev-server", "--port", "0", "--json", "--api-key", "key", "--api-secret", SECRET))
    url = server.wait_for("listening")["url"]
    keys = ("--api-key", "key", "--api-secret", SECRET)
    publisher = ("publish-test", "--url", url, *keys, "--room", "r", "--identity", "alice", "--json")
    start(mediabridge(*publisher)).wait_for("publishing")
    return server, url, keys


def test_the_steps_of_connecting(start, tmp_path):
    _, url, keys = serve(start)
    arguments = ("--url", url, *keys, "--room", "r", "--duration", "2s", "--json", "--verbose")
    recorder = start(mediabridge("record", *arguments, tmp_path / "x.mkv"))
    assert recorder.finish() == 0, recorder.report("failed")
    steps = ["signal connected", "joined", "offer received", "answer sent", "local candidate", "remote candidate"]
    steps += ["candidate pair chosen", "DTLS done", "data channel open", "track subscribed"]
    for step in steps:
        assert step in recorder.errors, recorder.report(f"'{step}' is not told")
    assert SECRET not in recorder.errors
    silent = start(mediabridge("record", *arguments[:-1], tmp_path / "y.mkv"))
    assert silent.finish() == 0 and silent.errors == "", silent.report("it tells without being asked")


def test_secrets_are_not_in_the_process_list(start, tmp_path):
    server, url, keys = serve(start)
    make = mediabridge("token", "create", *keys, "--room", "r", "--identity", "recorder")
    token = subprocess.run(make, capture_output=True, text=True, check=True).stdout.strip()
    for access in ((*keys, "--room", "r"), ("--token", token), (f"--token={token}",)):
        recorder = start(mediabridge("record", "--url", url, *access, "--json", "--verbose", tmp_path / f"{len(access)}{len(access[0])}.mkv"))
        after(recorder, 1)
        shown = Path(f"/proc/{recorder.pid}/cmdline").read_text()
        assert url in shown, "the rest of the line is still there"
        assert SECRET not in shown and token not in shown, shown
        recorder.stop()
        said = recorder.errors + str(recorder.events)
        assert SECRET not in said and token not in said and token.split(".")[2] not in said
    assert SECRET not in Path(f"/proc/{server.pid}/cmdline").read_text()


def test_log_lines_do_not_break_the_live_line(start, tmp_path):
    _, url, keys = serve(start)
    arguments = ("record", "--url", url, *keys, "--room", "r", "--duration", "3s", "--verbose", tmp_path / "x.mkv")
    text = OnTerminal(mediabridge(*arguments)).finish()
    shown = lines(text)
    logged = [line for line in shown if " debug mediabridge." in line]
    assert logged, text
    for line in logged:
        assert line[:2].isdigit() and line[2] == ":", f"not on a line of its own: {line}"
    assert any(line.startswith("Recorded ") for line in shown), text
    assert not any("% lost" in line and "debug" in line for line in shown), text
