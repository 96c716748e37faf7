"""The audio of each participant in a track of its own, beside the mix."""

import checks
import clip
import numpy as np
import pytest
from failures import after


def tracks(file):
    """The samples of each audio track."""
    return [checks.audio(file, number)[1] for number in range(len(checks.titles(file)))]


def loudness(samples):
    """The root mean square of each tenth of a second."""
    tenth = clip.RATE // 10
    return np.sqrt(np.mean(samples[: len(samples) // tenth * tenth].reshape(-1, tenth) ** 2, axis=1))


def assert_whole(file):
    assert checks.decode_errors(file) == []
    length = checks.durations(file)["video"]
    for number, samples in enumerate(tracks(file)):
        assert len(samples) / clip.RATE == pytest.approx(length, abs=0.3), f"track {number} of {file}"


@pytest.mark.realtime
def test_each_has_a_track_and_who_comes_later_one_from_the_next_part_on(server, tmp_path):
    """alice speaks all the time, bob beeps, and carol, who comes later, speaks all the time."""
    server.foreign_publisher("--room", "tracks", "--identity", "alice", "--tone")
    server.foreign_publisher("--room", "tracks", "--identity", "bob", "--no-video")
    files = [tmp_path / "talk.mkv", tmp_path / "talk.mp4"]
    options = ("--composite", "grid", "--audio-tracks", "participant", "--duration", "11s")
    recorder = server.recorder("tracks", None, *files, *options)
    recorder.wait_for("recording", 30)
    after(recorder, 3)
    server.foreign_publisher("--room", "tracks", "--identity", "carol", "--no-video", "--tone")
    recorder.wait_for("finished", 60)
    assert recorder.finish() == 0, recorder.report("failed")
    for first in files:
        second = first.with_stem("talk-2")
        assert not first.with_stem("talk-3").exists()
        for file in (first, second):
            assert_whole(file)
            assert checks.title(file) == file.stem
        if first.suffix == ".mkv":
            assert checks.titles(first)[1:] == ["alice", "bob"]
            assert checks.titles(second)[1:] == ["alice", "bob", "carol"]
        mix, alice, bob = map(loudness, tracks(first))
        assert (alice[3:-5] > 0.1).all() and np.median(bob) < 0.001 and bob.max() > 0.05
        # Of two who make one tone, each may be what the other takes away.
        assert np.median(mix[10:28]) > 0.1
        _, alice, bob, carol = map(loudness, tracks(second))
        assert (alice[3:-5] > 0.1).all() and np.median(bob) < 0.001 and (carol[10:-5] > 0.1).all()


def test_what_holds_one_audio_alone_is_said(local_server, tmp_path):
    options = ("--composite", "grid", "--audio-tracks", "participant")
    recorder = local_server.recorder("wrong", None, tmp_path / "talk.ogg", *options)
    assert recorder.finish(20) != 0
    assert "output/ogg holds one audio" in recorder.errors + str(recorder.events), recorder.report("says something else")
