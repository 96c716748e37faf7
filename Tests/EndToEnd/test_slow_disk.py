"""A disk that takes less than comes: what a file lacks for that is told when it begins, and an error at the end."""

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
