"""A disk that takes less than comes: what a file lacks for that is told when it begins, and an error at the end.

What waits in front of it holds up no end of anything else.
"""

import signal

from runner import assert_whole

SLOW = """# A disk that takes ten packets a second, in front of which fifty may wait.
oggmux name=mux ! filesink location=${location} buffer-mode=unbuffered
appsrc name=audio max-buffers=50 max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! opusparse ! identity sleep-time=100000 ! mux.
"""


def test_what_a_disk_has_no_room_for_is_told(server, tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output/slow.pipeline").write_text(SLOW)
    server.foreign_publisher("--room", "slow", "--codec", "H264")
    destination = f"slow={tmp_path / 'voice.ogg'}"
    recorder = server.recorder("slow", "alice", destination, "--duration", "8s", "--pipelines", tmp_path)
    while "missing" not in (told := recorder.wait_for("destination", 40)):
        pass
    missing = told["missing"]
    assert told["state"] == "active" and missing["goes_on"] and 0 < missing["since"] < 6, told
    assert missing["audio"] > 0 and missing["video"] == 0, told
    assert recorder.finish(60) != 0, recorder.report("it ended with 0")
    failed = next(event for event in recorder.events if event["event"] == "failed")
    assert "voice.ogg: it could not be written as fast as it came" in failed["message"], failed
    assert "s of audio are missing" in failed["message"] and "in all are in the file" in failed["message"], failed
    assert not any(event["event"] == "too_slow" for event in recorder.events), "the machine is not"


def test_an_interruption_is_heeded_while_a_file_is_removed(server, runner):
    """Of a job that goes on: `run` waits for what the disk still has to take, and what else it records does not."""
    templates = runner.folder / "pipelines"
    (templates / "output").mkdir(parents=True)
    # It takes some ten seconds at the end for what came in three, and loses nothing.
    (templates / "output/slow.pipeline").write_text(SLOW.replace("max-buffers=50", "max-buffers=1000"))
    server.foreign_publisher("--room", "one", "--identity", "alice", "--no-video")
    slow = runner.folder / "slow.ogg"
    job = {"audio-only": True, "destinations": ["b.ogg", {"location": str(slow), "output": "slow"}]}
    steady = {"audio-only": True, "destinations": ["a.ogg"]}
    runner.write({"steady": steady, "changes": job}, pipelines=str(templates))
    program = runner.start()
    runner.until("steady", "a.ogg", 3)
    runner.until("changes", "b.ogg", 3)
    new = {"audio-only": True, "destinations": ["c.ogg"]}
    jobs = {"steady": steady, "changes": {**job, "destinations": ["b.ogg"]}, "new": new}
    runner.write(jobs, pipelines=str(templates))
    assert program.wait_for("configuration")["changed"] == ["changes"]
    program.send(signal.SIGINT)
    runner.wait(lambda: runner.of("steady", "ended"))
    written = slow.stat().st_size
    assert program.finish(90) == 1, "one of the jobs has not begun"
    assert slow.stat().st_size > written, "it was waited for"
    failed = [(event["job"], event["message"]) for event in program.events if event["event"] == "failed"]
    assert failed == [("new", "it was stopped before it began")]
    assert not (runner.folder / "c.ogg").exists()
    for file in ("a.ogg", "b.ogg", "slow.ogg"):
        assert_whole(runner.folder / file, 2.5)
