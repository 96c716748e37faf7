"""Jobs of `mediabridge run` that hand frames and audio on, beside others."""

import json
import os
import signal
import socket
import subprocess
import time
import wave

import livekit_server
import numpy as np
import pytest
from live_server import wait_until
from livekit import api
from raw import lines, of
from runner import assert_whole, assert_without_gap

SMALL = ("--room", "one", "--width", 320, "--height", 180, "--fps", 15, "--bitrate", 500_000)
GRAY = {"kind": "frames", "format": "gray8", "size": "160x90", "fps": 5}
PIXELS = 160 * 90


def frames(file, channels=1):
    """Of a file that grows."""
    data = np.frombuffer(file.read_bytes(), np.uint8) if file.exists() else np.zeros(0, np.uint8)
    return data[: len(data) // (PIXELS * channels) * PIXELS * channels].reshape(-1, PIXELS * channels)


def until_some(file, channels=1):
    wait_until(f"frames in {file.name}", lambda: len(frames(file, channels)) >= 5, 30)


def test_a_change_of_one_leaves_the_others_without_a_gap(server, runner):
    server.foreign_publisher(*SMALL, "--identity", "alice", "--codec", "H264", "--tone")
    folder = runner.folder
    jobs = {
        "steady": {"participant": "alice", "destinations": ["a.mkv"]},
        "seen": {**GRAY, "format": "rgb24", "destination": "b.rgb", "info": "b.jsonl"},
        "heard": {"kind": "pcm", "format": "wav", "rate": 16_000, "destination": "c.wav"},
    }
    runner.write(jobs, more={"dot": str(folder / "drawings")})
    program = runner.start()
    runner.until("steady", "a.mkv", 1)
    until_some(folder / "b.rgb", 3)
    wait_until("a second of audio", lambda: (folder / "c.wav").stat().st_size > 32_000, 30)
    jobs["seen"]["format"] = "gray8"
    runner.write(jobs)
    told = program.wait_for("configuration")
    assert told["changed"] == ["seen"] and set(told["same"]) == {"steady", "heard"}, program.report("another change")
    until_some(folder / "b-2.rgb")
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert_whole(folder / "a.mkv", 1)
    assert_without_gap(folder / "a.mkv")
    assert len(runner.of("steady", "recording")) == 1 and len(runner.of("heard", "finished")) == 1
    assert [event["destination"] for event in runner.of("seen", "finished")] == [
        str(folder / name) for name in ("b.rgb", "b-2.rgb")
    ]
    for name, file, channels in (("b.jsonl", "b.rgb", 3), ("b-2.jsonl", "b-2.rgb", 1)):
        seen = frames(folder / file, channels)
        assert seen.nbytes == (folder / file).stat().st_size == runner.of("seen", "finished")[channels == 1]["written"] * PIXELS * channels
        assert 40 < seen.mean() < 220
        times = [frame["time"] for frame in of("frame", lines(folder / name))]
        assert times == pytest.approx([number / 5 for number in range(len(seen))])
    with wave.open(str(folder / "c.wav")) as read:
        samples = np.frombuffer(read.readframes(read.getnframes()), "<i2").astype(float)
        assert read.getframerate() == 16_000
    # A tone without a pause: no tenth of a second is silent.
    loud = np.abs(samples[1_600:-1_600])
    assert loud[: len(loud) // 1_600 * 1_600].reshape(-1, 1_600).max(axis=1).min() > 1_000
    drawn = {file.name.split("-", 1)[1] for file in (folder / "drawings").iterdir()}
    assert any("start.dot" in name for name in drawn), drawn


def test_a_device_has_no_parts(server, runner):
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    (runner.folder / "nothing").symlink_to("/dev/null")
    jobs = {"steady": {**GRAY, "destination": "a.raw"}, "seen": {**GRAY, "destination": "nothing", "info": "told"}}
    told = runner.folder / "told"
    told.symlink_to("/dev/null")
    runner.write(jobs)
    program = runner.start()
    until_some(runner.folder / "a.raw")
    runner.wait(lambda: runner.of("seen", "track"))
    jobs["seen"]["fps"] = 4
    runner.write(jobs)
    assert program.wait_for("configuration")["changed"] == ["seen"], program.report("another change")
    runner.wait(lambda: len(runner.of("seen", "track")) == 2)
    program.send(signal.SIGINT)
    program.finish()
    assert {event["destination"] for event in runner.of("seen", "finished")} == {str(runner.folder / "nothing")}
    assert not list(runner.folder.glob("nothing-*")) and not list(runner.folder.glob("told-*"))


def test_standard_output_is_one_jobs_and_all_else_is_told_on_standard_error(server, runner):
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    jobs = {
        "piped": {**GRAY, "duration": "2s", "destination": "-"},
        "mixed": {**GRAY, "composite": "grid", "duration": "1s", "destination": "mixed.raw"},
    }
    runner.write(jobs)
    done = subprocess.run([str(part) for part in runner.command], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert len(done.stdout) == 10 * PIXELS and len(frames(runner.folder / "mixed.raw")) == 5
    events = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
    finished = {event["job"]: event["destination"] for event in of("finished", events)}
    assert finished == {"piped": "standard output", "mixed": str(runner.folder / "mixed.raw")}


def test_the_server_is_asked_for_what_all_need_together(server, runner):
    if server.program is None or livekit_server.BINARY:
        pytest.skip("a LiveKit server does not tell what it is asked")
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    jobs = {
        "small": {**GRAY, "destination": "a.raw"},
        "fast": {**GRAY, "fps": 12, "destination": "b.raw"},
        "mixed": {**GRAY, "composite": "grid", "size": "320x180", "destination": "c.raw"},
    }
    runner.write(jobs)
    program = runner.start()
    for name in "abc":
        until_some(runner.folder / f"{name}.raw", 4 if name == "c" else 1)
    asked = [event for event in server.program.drain() if event["event"] == "asked" and event["wanted"]]
    assert (asked[-1]["size"], asked[-1]["fps"]) == ("320x180", 12), asked
    # What is for one of them alone goes with it.
    del jobs["fast"]
    runner.write(jobs)
    program.wait_for("configuration")
    wait_until("a lower rate", lambda: any(event.get("fps") == 5 for event in server.program.drain()), 10)


def test_a_layout_that_changes_lays_out_what_is_handed_on(server, runner):
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    layout = runner.folder / "halves.yaml"
    layout.write_text("tiles:\n  - {x: 0, y: 0, width: 0.5, height: 1}\n")
    runner.write({"mixed": {**GRAY, "composite": str(layout), "destination": "a.raw"}})
    program = runner.start()
    until_some(runner.folder / "a.raw")
    runner.replace("tiles:\n  - {x: 0.5, y: 0, width: 0.5, height: 1}\n", layout)
    told = program.wait_for("configuration")
    assert told["changed"] == ["mixed"], told
    begun = len(frames(runner.folder / "a.raw"))
    wait_until("a second more", lambda: len(frames(runner.folder / "a.raw")) >= begun + 10, 30)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert len(runner.of("mixed", "finished")) == len(runner.of("mixed", "layout")) == 1
    shown = frames(runner.folder / "a.raw").reshape(-1, 90, 160)
    left, right = shown[:, :, :70].mean(axis=(1, 2)), shown[:, :, 90:].mean(axis=(1, 2))
    assert left[4] > right[4] + 20 and right[-2] > left[-2] + 20


def test_some_have_a_command_each_which_is_heard_in_the_room(server, runner):
    """Of four who are there, three are chosen, one of them by a pattern of tracks alone."""
    for name in ("guest-1", "guest-2", "bob", "carol"):
        server.foreign_publisher(*SMALL, "--identity", name, "--no-audio")
    subscriber = server.subscriber("--room", "one", "--duration", 120)
    subscriber.wait_for("connected")
    command = f"""echo "{{\\"text\\": \\"$MEDIABRIDGE_IDENTITY\\"}}"; cat > {runner.folder}/$MEDIABRIDGE_IDENTITY.raw"""
    some = {**GRAY, "participant": ["guest-*", "bob"], "each": True, "duration": "3s"}
    runner.write(
        {
            "each": {**some, "exec": command, "reply": "data"},
            "none": {**some, "track-name": "slides-*", "exec": "cat", "wait": "1s"},
            "called": {**some, "track-name": "cam*", "destination": "{publisher_identity}.called"},
        }
    )
    program = runner.start()
    said = {subscriber.wait_for("message")["message"][2] for _ in range(3)}
    assert said == {"guest-1", "guest-2", "bob"}
    assert program.finish() == 1, program.report("all is well")
    failed = [event for event in program.events if event["event"] == "failed"]
    assert [event["job"] for event in failed] == ["none"], failed
    assert "waited in vain for the video called slides-* of guest-* or bob" in failed[0]["message"]
    for ending in ("raw", "called"):
        written = {file.stem: len(frames(file)) for file in runner.folder.glob(f"*.{ending}")}
        assert written == {"guest-1": 15, "guest-2": 15, "bob": 15}, ending


def say_later(server, runner, **options):
    """Records, and adds a job that says something; what was told of the change, once that is heard."""
    server.foreign_publisher(*SMALL, "--identity", "alice", "--codec", "H264")
    subscriber = server.subscriber("--room", "one", "--duration", 120)
    subscriber.wait_for("connected")
    jobs = {"steady": {"participant": "alice", "destinations": ["a.mkv"]}}
    runner.write(jobs, **options)
    program = runner.start()
    runner.until("steady", "a.mkv", 1)
    jobs["says"] = {**GRAY, "exec": """echo '{"text": "hello"}'; cat > /dev/null""", "reply": "data"}
    runner.write(jobs, **options)
    told = program.wait_for("configuration")
    assert subscriber.wait_for("message")["message"][2] == "hello"
    return told


@pytest.mark.parametrize("has_token", [False, True])
def test_a_job_that_sends_messages_leaves_the_others_without_a_gap(server, runner, monkeypatch, has_token):
    """It joins beside them, or where a token is given has the right that they have."""
    grants = api.VideoGrants(room_join=True, room="one", can_publish=False, can_publish_data=True)
    token = api.AccessToken("devkey", "secret").with_identity("recorder").with_grants(grants).to_jwt()
    monkeypatch.setenv("TOKEN", token)
    access = {"token": "${env:TOKEN}", "api-key": None, "api-secret": None} if has_token else {}
    told = say_later(server, runner, identity=None, **access)
    assert (told["same"], told["added"], told["rejoined"]) == (["steady"], ["says"], []), told
    begun = runner.of("steady", "progress")[-1]["duration"]
    runner.until("steady", "a.mkv", begun + 1)
    runner.program.send(signal.SIGINT)
    assert runner.program.finish() == 0, runner.program.report("failed")
    assert len(runner.of("steady", "recording")) == 1
    assert [file.name for file in runner.folder.glob("*.mkv")] == ["a.mkv"]
    assert_without_gap(runner.folder / "a.mkv")


def test_a_room_with_an_identity_is_joined_anew_for_messages(server, runner):
    """A second session of it would put the first one out."""
    told = say_later(server, runner)
    assert (told["changed"], told["added"], told["rejoined"]) == (["steady"], ["says"], ["one"]), told
    runner.until("steady", "a-2.mkv", 1)
    runner.program.send(signal.SIGINT)
    assert runner.program.finish() == 0, runner.program.report("failed")
    for name in ("a.mkv", "a-2.mkv"):
        assert_whole(runner.folder / name, 0.9)


def test_what_has_failed_is_begun_anew_when_the_file_is_read_again(server, runner):
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    held = runner.folder / "held.raw"
    held.write_bytes(b"yesterday's")
    runner.write({"steady": {**GRAY, "destination": "a.raw"}, "held": {**GRAY, "destination": "held.raw"}})
    program = runner.start()
    failed = program.wait_for("failed")
    assert failed["job"] == "held" and "or `overwrite` to replace it" in failed["message"]
    until_some(runner.folder / "a.raw")
    held.unlink()
    program.send(signal.SIGHUP)
    told = program.wait_for("configuration")
    assert (told["again"], told["same"]) == (["held"], ["steady"]), told
    until_some(held)
    # What goes well is left alone.
    program.send(signal.SIGHUP)
    told = program.wait_for("configuration")
    assert (told["again"], set(told["same"])) == ([], {"held", "steady"}), told
    program.send(signal.SIGINT)
    assert program.finish() == 1, "what had failed is missing"
    assert len(runner.of("steady", "finished")) == 1 and len(runner.of("held", "failed")) == 1


def test_who_waits_is_told_of_the_end(server, runner):
    """A reader of a socket to which nothing came yet, and one of a pipe that came after the job was changed."""
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    path, pipe = runner.folder / "late.sock", runner.folder / "cam.fifo"
    os.mkfifo(pipe)
    jobs = {
        "steady": {**GRAY, "destination": "a.raw"},
        "late": {**GRAY, "participant": "nobody", "destination": f"unix:{path}"},
        "pipe": {**GRAY, "format": "y4m", "destination": "cam.fifo"},
    }
    runner.write(jobs)
    program = runner.start()
    until_some(runner.folder / "a.raw")
    with socket.socket(socket.AF_UNIX) as reader:
        reader.connect(str(path))
        del jobs["late"]
        jobs["pipe"]["fps"] = 6
        runner.write(jobs)
        assert program.wait_for("configuration")["changed"] == ["pipe"]
        reader.settimeout(10)
        assert reader.recv(10) == b""
    runner.wait(lambda: {"finished", "failed"} & {one["event"] for one in program.events if one.get("job") == "pipe"})
    received = runner.folder / "received"
    copy = subprocess.Popen(["timeout", "30", "cp", pipe, received])
    until_some(received)
    program.send(signal.SIGINT)
    program.finish()
    assert copy.wait(10) == 0, "there is a writer still"
    assert received.read_bytes().count(b"YUV4MPEG2") == 1


def test_one_that_is_removed_before_anything_came_has_not_failed(server, runner):
    server.foreign_publisher(*SMALL, "--identity", "alice", "--no-audio")
    jobs = {"steady": {**GRAY, "destination": "a.raw"}, "late": {**GRAY, "participant": "nobody", "destination": "-"}}
    del jobs["late"]["destination"]
    jobs["late"]["exec"] = "cat > /dev/null"
    runner.write(jobs)
    program = runner.start()
    until_some(runner.folder / "a.raw")
    del jobs["late"]
    # It cannot be had now, since what is told goes there.
    jobs["piped"] = {**GRAY, "destination": "-"}
    runner.write(jobs)
    told = program.wait_for("configuration")
    assert told["removed"] == ["late"] and told["added"] == ["piped"]
    failed = program.wait_for("failed")
    assert failed["job"] == "piped" and "standard output carries what is told" in failed["message"]
    program.send(signal.SIGINT)
    assert program.finish() == 1
    assert not runner.of("late", "failed"), program.report("it counts as failed")
