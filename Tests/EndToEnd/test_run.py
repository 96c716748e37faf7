"""`mediabridge run`: the jobs of a file side by side, and a file that changes while they run."""

import json
import os
import pty
import signal
import subprocess

import checks
import hls
import pytest
from live_server import LiveServer, wait_until
from programs import ROOT
from runner import KEYS, assert_whole, assert_without_gap

SMALL = ("--width", 320, "--height", 180, "--fps", 15, "--bitrate", 500_000)


def test_jobs_of_two_rooms_end_and_fail_alone(server, runner):
    server.foreign_publisher("--room", "one", "--identity", "speaker-1", "--codec", "H264", *SMALL)
    server.foreign_publisher("--room", "two", "--identity", "bob", "--codec", "VP8", *SMALL)
    folder = runner.folder
    (folder / "held.mkv").write_bytes(b"yesterday's")
    runner.write(
        {
            "as-sent": {"room": "one", "participant": "speaker-*", "duration": "4s", "destinations": ["a.mkv"]},
            "mixed": {"room": "one", "composite": "grid", "size": "320x180", "duration": 4, "destinations": ["b.mp4"]},
            "other": {"room": "two", "audio-only": True, "duration": "4s", "destinations": ["c.ogg"]},
            "held": {"room": "one", "duration": "4s", "destinations": ["held.mkv"]},
        },
        rooms=("one", "two"),
    )
    program = runner.start()
    assert program.finish(90) == 1, program.report("all is well")
    for name, file in (("as-sent", "a.mkv"), ("mixed", "b.mp4"), ("other", "c.ogg")):
        assert len(runner.of(name, "finished")) == 1, program.report(f"{name} did not finish")
        assert_whole(folder / file, 3.7)
    assert set(checks.durations(folder / "c.ogg")) == {"audio"}
    assert checks.sizes(folder / "b.mp4") == {(320, 180)}
    failed = [event for event in program.events if event["event"] == "failed"]
    assert [event["job"] for event in failed] == ["held"] and "held.mkv" in failed[0]["message"]
    assert "give `overwrite`" in failed[0]["message"] and "give `overwrite`" in program.errors, "options are no keys"
    assert (folder / "held.mkv").read_bytes() == b"yesterday's"
    assert "mediabridge: held: " in program.errors
    assert all("job" in event for event in program.events)


def test_a_changed_file_leaves_the_others_alone(server, runner):
    """One job of three is changed, one gets another destination, and a broken file changes nothing."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    folder = runner.folder
    jobs = {
        "steady": {"participant": "alice", "destinations": ["a.mkv"]},
        "grows": {"participant": "alice", "destinations": ["b.mkv"]},
        "changes": {"audio-only": True, "destinations": ["c.ogg"]},
    }
    runner.write(jobs)
    program = runner.start()
    for name, job in jobs.items():
        runner.until(name, job["destinations"][0], 1)
    jobs["grows"]["destinations"] = ["b.mkv", "later.mkv"]
    jobs["changes"]["audio-bitrate"] = 32
    jobs["new"] = {"audio-only": True, "duration": "2s", "destinations": ["d.ogg"]}
    runner.write(jobs)
    told = program.wait_for("configuration")
    assert told["applied"] and (told["same"], told["added"]) == (["steady"], ["new"]), program.report("another change")
    assert set(told["changed"]) == {"grows", "changes"}
    runner.until_finished("changes", "c.ogg")
    runner.until_finished("new", "d.ogg")
    runner.until("changes", "c-2.ogg", 1)
    runner.until("grows", "later.mkv", 1)
    runner.replace(runner.file.read_text().replace('"audio-only"', '"audio-onyl"'))
    assert not program.wait_for("configuration")["applied"]
    mistakes = [event for event in program.events if event["event"] == "mistake"]
    assert {event["message"] for event in mistakes} == {"a job has no `audio-onyl`; did you mean `audio-only`?"}
    program.wait_for_error(f"{runner.file}:{mistakes[0]['line']}:{mistakes[0]['column']}: ")
    del jobs["grows"], jobs["new"]
    runner.write(jobs)
    assert set(program.wait_for("configuration")["removed"]) == {"grows", "new"}
    runner.until_finished("grows", "b.mkv", "later.mkv")
    # Asked for by a signal, it is the same once more.
    program.send(signal.SIGHUP)
    assert set(program.wait_for("configuration")["same"]) == {"steady", "changes"}
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert len(runner.of("steady", "recording")) == 1 and len(runner.of("grows", "recording")) == 1
    for place in ("a.mkv", "b.mkv", "later.mkv"):
        assert_whole(folder / place, 1)
        assert_without_gap(folder / place)
    assert_whole(folder / "c.ogg", 1)
    assert_whole(folder / "c-2.ogg", 1)


def test_a_job_that_begins_anew_leaves_its_parts_alone(server, runner):
    """Only the whole name, with what fills it, tells which one is free."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    folder, name = runner.folder, "{publisher_identity}.ogg"
    job = {"participant": "alice", "audio-only": True, "part-duration": "2s", "overwrite": True, "destinations": [name]}
    runner.write({"parts": job})
    program = runner.start()
    runner.wait(lambda: (folder / "alice-2.ogg").exists())
    job["audio-bitrate"] = 32
    runner.write({"parts": job})
    runner.wait(lambda: runner.of("parts", "finished"))
    first = sorted(folder.glob("*.ogg"))
    before = [file.read_bytes() for file in first]
    runner.wait(lambda: len(list(folder.glob("*.ogg"))) > len(first) + 1)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert [file.read_bytes() for file in first] == before, "a part was replaced"
    for file in folder.glob("*.ogg"):
        assert checks.decode_errors(file) == [], file


def test_a_job_that_is_put_back_waits_for_itself(server, runner):
    """Under another name it goes beside what was written, too, which what is run for that still reads."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--no-video")
    folder = runner.folder
    copied = "sleep 4 && cat $1 >> " + str(folder / "copied")
    job = {"audio-only": True, "overwrite": True, "on-complete": copied, "destinations": ["talk.ogg"]}
    other = {"audio-only": True, "destinations": ["other.ogg"]}
    runner.write({"talk": job, "other": other})
    program = runner.start()
    runner.until("talk", "talk.ogg", 2)
    runner.write({"other": other})
    assert program.wait_for("configuration")["removed"] == ["talk"]
    runner.until_finished("talk", "talk.ogg")
    before = (folder / "talk.ogg").read_bytes()
    runner.write({"talk": job, "other": other})
    assert program.wait_for("configuration")["added"] == ["talk"]
    runner.until("talk", "talk-2.ogg", 1)
    runner.write({"lecture": {**job, "on-complete": "test -s $1"}, "other": other})
    runner.until("lecture", "talk-3.ogg", 1)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert (folder / "talk.ogg").read_bytes() == before
    assert (folder / "copied").read_bytes() == before + (folder / "talk-2.ogg").read_bytes()


@pytest.mark.parametrize("options", [{}, {"reconnect-attempts": 3}])
def test_a_job_that_begins_anew_waits_for_no_command(server, runner, options):
    """Nobody would be recorded while a large file is uploaded. `options` are those of the room that change with it."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--no-video")
    folder = runner.folder
    slow = f"while [ ! -e {folder}/go ]; do sleep 0.1; done; cat $1 >> {folder}/copied"
    job = {"audio-only": True, "on-complete": slow, "destinations": ["talk.ogg"]}
    runner.write({"talk": job})
    program = runner.start()
    runner.until("talk", "talk.ogg", 1)
    runner.write({"talk": {**job, "audio-bitrate": 32}}, **options)
    runner.until("talk", "talk-2.ogg", 1)
    events = [event["event"] for event in program.events if event.get("job") == "talk"]
    assert events.index("ended") < events.index("recording", events.index("finished")), "its end is told first"
    assert not runner.of("talk", "completed_command"), "its command still runs"
    (folder / "go").touch()
    runner.wait(lambda: runner.of("talk", "completed_command"))
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    both = [(folder / name).read_bytes() for name in ("talk.ogg", "talk-2.ogg")]
    assert (folder / "copied").read_bytes() == both[0] + both[1]


def test_a_live_playlist_goes_on_with_a_job_that_begins_anew(server, runner):
    """It is nobody else's meanwhile, and goes on with the numbers that players know (RFC 8216, 6.2.2)."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    live = {"live-playlist": "live.m3u8", "segment-duration": 1}
    job = {"participant": "alice", "destinations": ["talk.m3u8"], "set": live}
    runner.write({"talk": job})
    program = runner.start()
    runner.wait(lambda: (runner.folder / "live.m3u8").exists() and (runner.folder / "live.m3u8").stat().st_size > 0)
    before = hls.read(runner.folder / "live.m3u8")
    runner.write({"talk": {**job, "audio-bitrate": 32}, "other": {**job, "destinations": ["other.m3u8"]}})
    runner.wait(lambda: "talk-2_" in (runner.folder / "live.m3u8").read_text())
    after = hls.read(runner.folder / "live.m3u8")
    begins = [int(playlist.tags["#EXT-X-MEDIA-SEQUENCE"]) for playlist in (before, after)]
    assert begins[1] >= begins[0] + len(before.segments) > 0, (before, after)
    assert "#EXT-X-DISCONTINUITY" in after.tags and not after.is_over, after
    program.send(signal.SIGINT)
    assert program.finish() == 1
    failed = [event for event in program.events if event["event"] == "failed"]
    assert [event["job"] for event in failed] == ["other"] and "live.m3u8" in failed[0]["message"], failed
    assert "other" not in (runner.folder / "live.m3u8").read_text()


def test_a_destination_that_is_put_back_goes_beside_itself(server, runner):
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    job = {"participant": "alice", "overwrite": True, "destinations": ["a.mkv", "b.mkv", "{utc}.mkv"]}
    runner.write({"talk": job})
    program = runner.start()
    runner.until("talk", "b.mkv", 1)
    runner.write({"talk": {**job, "destinations": ["a.mkv"]}})
    told = ("complete", str(runner.folder / "b.mkv"))
    runner.wait(lambda: told in [(one["state"], one["file"]) for one in runner.of("talk", "destination")])
    before = (runner.folder / "b.mkv").read_bytes()
    runner.write({"talk": job})
    runner.until("talk", "b-2.mkv", 1)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert (runner.folder / "b.mkv").read_bytes() == before
    named = [file for file in runner.folder.glob("*.mkv") if file.stem.isdigit()]
    assert len(named) == 2 and len(list(runner.folder.glob("*.mkv"))) == 5
    for file in runner.folder.glob("*.mkv"):
        assert_whole(file, 0.5)


def test_a_destination_that_moves_to_another_job_goes_beside_itself(server, runner):
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    job = {"participant": "alice", "overwrite": True, "destinations": ["a.mkv", "b.mkv"]}
    runner.write({"talk": job})
    program = runner.start()
    runner.until("talk", "b.mkv", 1)
    runner.write({"talk": {**job, "destinations": ["a.mkv"]}, "other": {**job, "destinations": ["b.mkv"]}})
    runner.until("other", "b-2.mkv", 1)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    for file in ("a.mkv", "b.mkv", "b-2.mkv"):
        assert_whole(runner.folder / file, 0.9)


def test_a_destination_that_was_refused_is_tried_again(server, runner):
    """The job goes on meanwhile, and has not failed."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    job, held = {"participant": "alice", "destinations": ["a.mkv"]}, runner.folder / "b.mkv"
    held.write_bytes(b"yesterday's")
    runner.write({"talk": job})
    program = runner.start()
    runner.until("talk", "a.mkv", 1)
    runner.write({"talk": {**job, "destinations": ["a.mkv", "b.mkv"]}})
    told = program.wait_for("control")
    assert (told["job"], told["command"], told["done"]) == ("talk", "add", False), told
    assert "b.mkv" in told["message"] and held.read_bytes() == b"yesterday's"
    held.unlink()
    program.send(signal.SIGHUP)
    assert program.wait_for("configuration")["changed"] == ["talk"]
    runner.until("talk", "b.mkv", 1)
    program.send(signal.SIGHUP)
    assert program.wait_for("configuration")["same"] == ["talk"]
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert not runner.of("talk", "failed")
    for file in ("a.mkv", "b.mkv"):
        assert_whole(runner.folder / file, 0.9)
    assert_without_gap(runner.folder / "a.mkv")


def test_what_was_refused_is_missing_while_it_is_asked_for(server, runner):
    """Whoever names another file, or takes the line out, misses nothing; else the last line says what is missing."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    names = ("mended", "withdrawn", "left")
    for name in names:
        (runner.folder / f"{name}-held.mkv").write_bytes(b"yesterday's")

    def write(**more):
        runner.write(
            {name: {"participant": "alice", "destinations": [f"{name}.mkv", *more.get(name, ())]} for name in names}
        )

    write()
    program = runner.start()
    for name in names:
        runner.until(name, f"{name}.mkv", 1)
    write(**{name: [f"{name}-held.mkv"] for name in names})
    runner.wait(lambda: all(runner.of(name, "control") for name in names))
    write(mended=["other.mkv"], left=["left-held.mkv"])
    runner.until("mended", "other.mkv", 1)
    program.send(signal.SIGINT)
    assert program.finish() == 1, program.report("all is there")
    failed = [event for event in program.events if event["event"] == "failed"]
    assert [event["job"] for event in failed] == ["left"], failed
    assert "left-held.mkv" in failed[0]["message"] and "not done while it ran" in failed[0]["message"], failed
    assert "mediabridge: left: not done while it ran: " in program.errors
    for name in (*names, "other"):
        assert_whole(runner.folder / f"{name}.mkv", 0.9)


def test_a_line_of_what_has_failed_alone_may_go(server, runner):
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    nowhere = {"location": "rtmp://127.0.0.1:9/live/key"}
    job = {"participant": "alice", "reconnect-for": "1s", "destinations": ["a.mkv", nowhere]}
    runner.write({"talk": job})
    program = runner.start()
    runner.wait(lambda: "failed" in [one["state"] for one in runner.of("talk", "destination")])
    runner.until("talk", "a.mkv", 1)
    runner.write({"talk": {**job, "destinations": ["a.mkv"]}})
    assert program.wait_for("configuration")["changed"] == ["talk"]
    begun = runner.of("talk", "progress")[-1]["duration"]
    runner.until("talk", "a.mkv", begun + 1)
    assert not runner.of("talk", "control") and not runner.of("talk", "failed")
    program.send(signal.SIGINT)
    assert program.finish() == 1, "one of the destinations is not there"
    assert_whole(runner.folder / "a.mkv", begun + 0.5)


def test_a_live_server_gets_the_stream_anew_with_other_values(server, runner, start, namespace, tmp_path):
    """It takes no second one beside it."""
    live = LiveServer(start, namespace.command, tmp_path / "live")
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    job = {"participant": "alice", "destinations": ["a.mkv", {"location": live.address}]}
    runner.write({"talk": job})
    program = runner.start()
    runner.until("talk", "a.mkv", 1)
    runner.wait(lambda: len(live.received) == 1)
    runner.write({"talk": {**job, "destinations": ["a.mkv", {"location": live.address, "set": {"queue": 300}}]}})
    runner.wait(lambda: len(live.received) == 2)
    before = runner.of("talk", "progress")[-1]["duration"]
    runner.until("talk", "a.mkv", before + 2)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert_whole(runner.folder / "a.mkv", before + 1.5)
    for file in live.received:
        assert checks.decode_errors(file) == []
    assert checks.length(live.received[-1]) > 1


def test_a_changed_room_begins_its_jobs_anew(server, runner):
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    jobs = {name: {"audio-only": True, "destinations": [f"{name}.ogg"]} for name in ("a", "b")}
    runner.write(jobs)
    program = runner.start()
    for name in jobs:
        runner.until(name, f"{name}.ogg", 1)
    runner.write(jobs, set={"latency": 300})
    assert program.wait_for("configuration")["changed"] == ["a", "b"]
    for name in jobs:
        runner.until(name, f"{name}-2.ogg", 1)
    program.send(signal.SIGTERM)
    assert program.finish() == 0, program.report("failed")
    for file in ("a.ogg", "b.ogg", "a-2.ogg", "b-2.ogg"):
        assert_whole(runner.folder / file, 0.9)


def test_a_room_that_is_lost_fails_its_jobs_alone(server, runner, start, namespace):
    other = type(server)(start, namespace.command)
    for place in (server, other):
        place.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    runner.write({"here": {"room": "one", "duration": "6s", "destinations": ["a.mkv"]}})
    whole = json.loads(runner.file.read_text())
    whole["rooms"]["lost"] = {"url": other.url, "room": "one", "reconnect-attempts": 0, **KEYS}
    whole["jobs"]["there"] = {"room": "lost", "destinations": [str(runner.folder / "b.mkv")]}
    runner.replace(json.dumps(whole))
    program = runner.start()
    runner.until("there", "b.mkv", 2)
    other.end(signal.SIGKILL)
    assert program.finish(90) == 1
    assert_whole(runner.folder / "a.mkv", 5.5)
    assert_whole(runner.folder / "b.mkv", 1.5)
    assert [event["job"] for event in program.events if event["event"] == "failed"] == ["there"]


def test_a_change_of_one_of_five_jobs_leaves_four_without_a_gap(server, runner):
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "H264", *SMALL)
    jobs = {name: {"participant": "alice", "destinations": [f"{name}.mkv"]} for name in "abcde"}
    runner.write(jobs)
    program = runner.start()
    for name in jobs:
        runner.until(name, f"{name}.mkv", 1)
    jobs["c"]["reconnect-for"] = "20s"
    runner.write(jobs)
    told = program.wait_for("configuration")
    assert told["changed"] == ["c"] and told["same"] == ["a", "b", "d", "e"], told
    for name in jobs:
        runner.until(name, "c-2.mkv" if name == "c" else f"{name}.mkv", 1)
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    for name in "abde":
        assert_without_gap(runner.folder / f"{name}.mkv")
        assert len(runner.of(name, "recording")) == 1
    assert {file.stem for file in runner.folder.glob("*.mkv")} == {*jobs, "c-2"}


def test_a_layout_that_changes_lays_out_the_same_file(server, runner):
    """A job of a mixed room goes on; a broken layout changes nothing."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--codec", "VP8", *SMALL)
    layout = runner.folder / "halves.yaml"
    layout.write_text("tiles:\n  - {x: 0, y: 0, width: 0.5, height: 1}\n")
    runner.write({"mixed": {"composite": str(layout), "size": "320x180", "destinations": ["a.mkv"]}})
    program = runner.start()
    runner.until("mixed", "a.mkv", 1)
    program.events.clear()
    runner.replace("tiles:\n  - {x: 0.5, y: 0, width: 0.5, height: 1}\n", layout)
    # Told by the job and by the file, which do not wait for each other.
    runner.wait(lambda: {"layout", "configuration", "progress"} <= {event["event"] for event in program.events})
    assert len(runner.of("mixed", "layout")) == 1, program.report("another layout")
    told = [event for event in program.events if event["event"] == "configuration"]
    assert [one["changed"] for one in told] == [["mixed"]], told
    begun = runner.of("mixed", "progress")[-1]["duration"]
    runner.until("mixed", "a.mkv", begun + 2)
    runner.replace("tiles:\n  - {x: 0.5, y: 0, width: 5, height: 1}\n", layout)
    assert not program.wait_for("configuration")["applied"]
    assert "halves.yaml:2:" in next(event for event in program.events if event["event"] == "mistake")["message"]
    program.send(signal.SIGINT)
    assert program.finish() == 0, program.report("failed")
    assert [file.name for file in runner.folder.glob("*.mkv")] == ["a.mkv"]
    shown = checks.frames(runner.folder / "a.mkv")
    sides = [bool(luma[:, :150].mean() > luma[:, 170:].mean()) for _, luma in shown]
    assert sides[5] and not sides[-5], "it is on the left at first, and then on the right"


def test_a_terminal_that_is_closed_completes_all_jobs(server, runner):
    """As Ctrl-C does, which nobody could press any more; where it is told to read its file again it goes on."""
    server.foreign_publisher("--room", "one", "--identity", "alice", "--no-video", "--duration", 60)
    runner.write({"talk": {"audio-only": True, "destinations": ["talk.ogg"]}})
    told = runner.folder / "told"
    terminal, inside = pty.openpty()
    # Tests may run below nohup, which has the signal ignored.
    command = ("env", "--default-signal=HUP", "setsid", "--ctty", *map(str, runner.command))
    with told.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdin=inside, stdout=output, stderr=output)
    os.close(inside)
    try:
        wait_until("some audio", lambda: '"duration":3' in told.read_text(), 40)
        process.send_signal(signal.SIGHUP)
        wait_until("its file to be read", lambda: '"event":"configuration"' in told.read_text(), 20)
        os.close(terminal)
        assert process.wait(30) == 0, told.read_text()
    finally:
        process.kill()
    assert told.read_text().count('"event":"configuration"') == 1
    assert_whole(runner.folder / "talk.ogg", 2)
