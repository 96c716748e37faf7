"""`mediabridge pcm`: what a room says, sample by sample."""

import io
import wave

import clip
import numpy as np
import pytest
from live_server import wait_until
from network import STUN
from programs import python
from raw import Reader, lines, of

RATE = 48_000


def beeps(samples, rate=RATE):
    """Where each beep begins and ends, in seconds."""
    # Of a millisecond each.
    block = rate // 1000
    loud = np.abs(samples[: len(samples) // block * block]).reshape(-1, block).max(axis=1) > clip.LOUDNESS / 4
    edges = np.diff(np.concatenate([[False], loud, [False]]).astype(int))
    starts, ends = np.flatnonzero(edges == 1) / 1000, np.flatnonzero(edges == -1) / 1000
    # What lies closer together than 20 ms is one.
    keep = [0, *(index for index in range(1, len(starts)) if starts[index] - ends[index - 1] > 0.02)]
    return [(starts[a], ends[b - 1]) for a, b in zip(keep, [*keep[1:], len(starts)])]


def assert_a_second_apart(samples, rate=RATE):
    found = beeps(samples, rate)
    # Where the first one begins that does so in here, as the last one tells. Of the one before, a decoder that starts
    # within it gives parts.
    first = found[-1][0]
    first -= int(first - 0.01)
    assert all(end <= first - 1 + 0.115 for start, end in found if start < first - 0.02), found
    whole = [(start, end) for start, end in found if start >= first - 0.02 and end < len(samples) / rate - 0.01]
    assert len(whole) >= 2, found
    for start, end in whole:
        assert end - start == pytest.approx(0.1, abs=0.015), found
    for (before, _), (after, _) in zip(whole, whole[1:]):
        assert after - before == pytest.approx(1, abs=0.02)


@pytest.mark.realtime
def test_s16le_has_beeps_at_their_place(server, tmp_path):
    server.foreign_publisher("--no-video")
    log = tmp_path / "info.jsonl"
    samples = np.frombuffer(Reader(server, "pcm", "--duration", "4s", "--info", log).all(), "<i2")
    assert len(samples) == 4 * RATE
    assert_a_second_apart(samples)
    told = of("samples", lines(log))
    assert told[0]["sample"] == 0 and sum(part["count"] for part in told) == 4 * RATE
    assert of("track", lines(log))[0]["participant"] == "alice"


@pytest.mark.realtime
def test_f32le_of_another_rate_and_two_channels(server):
    server.foreign_publisher("--no-video")
    data = Reader(server, "pcm", "--format", "f32le", "--rate", 16_000, "--channels", 2, "--duration", "4s").all()
    samples = np.frombuffer(data, "<f4").reshape(-1, 2)
    assert len(samples) == 4 * 16_000 and np.abs(samples).max() < 0.6
    assert_a_second_apart(samples[:, 0] * 32_768, 16_000)
    assert_a_second_apart(samples[:, 1] * 32_768, 16_000)


def test_wav_on_a_pipe_and_in_a_file(server, tmp_path):
    server.foreign_publisher("--no-video", "--tone")
    file = tmp_path / "a.wav"
    in_file = Reader(server, "pcm", file)
    data = Reader(server, "pcm", "--format", "wav", "--channels", 2, "--duration", "2s").all()
    assert in_file.stop() == 0
    for source, channels in ((io.BytesIO(data), 2), (str(file), 1)):
        with wave.open(source) as read:
            assert (read.getframerate(), read.getnchannels(), read.getsampwidth()) == (RATE, channels, 2)
            samples = np.frombuffer(read.readframes(read.getnframes()), "<i2")
            assert len(samples) == read.getnframes() * channels
            assert channels == 1 or read.getnframes() == 2 * RATE
        loud = np.abs(samples.reshape(-1, channels)[RATE : RATE + RATE // 2, 0])
        assert loud.max() == pytest.approx(clip.LOUDNESS, rel=0.1)


# A sender that stands still for 200 ms is placed anew, by when its samples come, and what is late is concealed, not silent.
@pytest.mark.realtime
def test_a_mute_is_exact_silence_and_takes_its_time(server, tmp_path):
    log = tmp_path / "info.jsonl"
    publisher = server.foreign_publisher("--no-video", "--actions", "mute", "unmute")
    samples = np.frombuffer(Reader(server, "pcm", "--duration", "5s", "--info", log).all(), "<i2")
    assert len(samples) == 5 * RATE
    silent = np.flatnonzero(np.diff(np.concatenate([[1], samples, [1]])) != 0)
    longest = np.diff(np.flatnonzero(np.concatenate([[1], samples, [1]]))).max() / RATE
    muted, unmuted = (publisher.wait_for(name)["at"] for name in ("mute", "unmute"))
    assert longest > unmuted - muted - 0.3, len(silent)
    assert [event["event"] for event in lines(log) if event["event"] in ("muted", "unmuted")] == ["muted", "unmuted"]
    starts = [start for start, _ in beeps(samples)][1:]
    places = np.array(starts) - starts[0]
    assert np.abs(places - places.round()).max() < 0.04, "what comes after it is in its place"


def test_the_mix_has_everybody_who_is_asked_for(server):
    server.foreign_publisher("--no-video", "--identity", "guest-alice", "--tone")
    server.foreign_publisher("--no-video", "--identity", "guest-bob", "--beep", 3000)
    server.foreign_publisher("--no-video", "--identity", "host", "--beep", 5000)
    mixed = ("--mix", "--duration", "4s", "--participant")
    guests, one = (Reader(server, "pcm", *mixed, names) for names in ("guest-*", "guest-bob"))
    for reader, has_both in ((guests, True), (one, False)):
        samples = np.frombuffer(reader.all(), "<i2")
        assert len(samples) == 4 * RATE
        spectrum = np.abs(np.fft.rfft(samples[2 * RATE :].astype(float))) / RATE
        hertz = np.fft.rfftfreq(2 * RATE, 1 / RATE)
        low, high, other = (spectrum[np.abs(hertz - tone) < 30].max() for tone in (1000, 3000, 5000))
        rest = np.median(spectrum)
        assert high > 100 * rest and other < high / 30
        assert low > 100 * rest if has_both else low < high / 30


def chirps(samples):
    """Where in each second its chirp begins, in seconds."""
    wave, size = clip.chirp(), 1 << (2 * RATE).bit_length()
    spectrum = np.conj(np.fft.rfft(wave, size))

    def place(first):
        found = np.fft.irfft(np.fft.rfft(samples[first : first + 2 * RATE].astype(float), size) * spectrum, size)
        return (first + np.argmax(found[:RATE])) / RATE

    return np.array([place(first) for first in range(0, len(samples) - 2 * RATE + 1, RATE)])


@pytest.mark.parametrize("seconds", [12, pytest.param(180, marks=pytest.mark.long)])
def test_each_sample_has_its_place_whatever_is_lost(routed, visited_server, seconds):
    """From the first second on, while our clock for the sender still settles."""
    routed.drop(forward=f"{STUN} accept; meta l4proto udp numgen random mod 100 < 5 drop;")
    visited_server.foreign_publisher("--no-video", "--chirp", "--duration", seconds + 60, enter=routed.client)
    data = Reader(visited_server, "pcm", "--duration", f"{seconds}s").all(seconds + 60)
    samples = np.frombuffer(data, "<i2")
    assert len(samples) == seconds * RATE
    places = chirps(samples)
    late = places - places[0]
    late -= late.round()
    # Where a chirp itself has lost packets it is found less exactly.
    assert np.percentile(np.abs(late), 80) < 0.001 and np.abs(late).max() < 0.005, late.round(4)
    assert abs(np.median(late[-len(late) // 3 :]) - np.median(late[: len(late) // 3])) < 0.0005, late.round(4)


def test_a_reader_that_sleeps_misses_nothing(server):
    server.foreign_publisher("--no-video")
    reader = Reader(server, "pcm", "--duration", "6s")
    reader.read(1000)
    # Which takes longer than a pipe holds.
    Reader(server, "pcm", "--duration", "3s").all()
    samples = np.frombuffer(reader.read(12 * RATE - 1000), "<i2")
    assert reader.finish() == 0 and len(samples) == 6 * RATE - 500
    assert_a_second_apart(samples)


def test_a_recogniser_for_each_participant(server, tmp_path):
    server.foreign_publisher("--no-video", "--identity", "alice", "--tone")
    server.foreign_publisher("--no-video", "--identity", "bob", "--tone")
    Reader(server, "pcm", "--each", "--format", "wav", "--duration", "2s", tmp_path / "{publisher_identity}.wav").all()
    for name in ("alice", "bob"):
        assert_two_loud_seconds(tmp_path / f"{name}.wav")


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_two_who_are_one_name_have_a_file_each(server, tmp_path, options):
    for name in ("a/b", "a_b"):
        server.foreign_publisher("--no-video", "--identity", name, "--tone")
    file = tmp_path / "{publisher_identity}.wav"
    Reader(server, "pcm", "--each", "--format", "wav", "--duration", "2s", *options, file).all()
    for name in ("a_b", "a_b-2"):
        assert_two_loud_seconds(tmp_path / f"{name}.wav")


def assert_two_loud_seconds(file):
    with wave.open(str(file)) as read:
        samples = np.frombuffer(read.readframes(read.getnframes()), "<i2")
    assert len(samples) == 2 * RATE and np.abs(samples[RATE:]).max() == pytest.approx(clip.LOUDNESS, rel=0.1)
