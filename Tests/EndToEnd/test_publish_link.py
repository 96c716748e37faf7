"""What `mediabridge publish` sends fits the way to the server, as the LiveKit Python SDK sees it."""

import signal
import subprocess
import time

import clip
import pytest
from network import STUN
from programs import KEYS, mediabridge, python

FPS = 25


def encode(file, size, seconds, *rate):
    """The numbered clip in a file, with a tone without a pause; `rate` is of ffmpeg."""
    command = ["ffmpeg", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{size[0]}x{size[1]}"]
    command += ["-r", str(FPS), "-i", "-", "-f", "lavfi", "-i", f"sine=1000:sample_rate=48000:duration={seconds}"]
    command += ["-c:v", "libx264", "-preset", "ultrafast", *(rate or ("-crf", "18")), "-g", "25", "-c:a", "flac", str(file)]
    frames = b"".join(clip.i420(clip.draw(number, *size, FPS)) for number in range(seconds * FPS))
    subprocess.run(command, input=frames, check=True)
    return file


@pytest.fixture
def watcher(start, routed, visited_server):
    """Beside the server: what is narrow or lossy is the publisher's way alone."""
    watcher = start(routed.server(*python("watch_link.py", "--url", visited_server.url)))
    watcher.wait_for("connected")
    return watcher


def publish(start, routed, server, *arguments, identity="alice"):
    command = mediabridge("publish", "--url", server.url, *KEYS, "--room", "test", "--identity", identity, "--json")
    publisher = start(routed.client(*command, *map(str, arguments)))
    publisher.wait_for("publishing", 20)
    return publisher


def seconds(watcher, limit):
    """What is seen and heard, second by second, for at most so long."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        yield watcher.wait_for_new("second", 10)


def wide_again(watcher, enough):
    """What is seen second by second until the large size has come in so many of them, for a minute at most."""
    sizes = []
    for second in seconds(watcher, 60):
        sizes.append(second["sizes"])
        if sum(is_wide(one) for one in sizes) == enough:
            break
    return sizes


def is_wide(sizes):
    return sizes.get("960x540", 0) > FPS / 2


def audible(heard):
    return sum(second["audible"] for second in heard) / max(1, sum(second["stretches"] for second in heard))


@pytest.mark.realtime
def test_layers_drop_on_a_narrow_way_and_come_back(start, routed, visited_server, watcher, tmp_path):
    wide = encode(tmp_path / "wide.mkv", (960, 540), 8)
    publisher = publish(start, routed, visited_server, wide, "--encode", "--loop")
    before = list(seconds(watcher, 12))
    assert before[-1]["sizes"].get("960x540", 0) > FPS / 2, before
    with routed.bandwidth_to_server("500kbit"):
        capped = list(seconds(watcher, 20))
        said = [(second["sizes"], second["audible"], second["stretches"]) for second in capped]
        assert all("960x540" not in second["sizes"] for second in capped[6:]), said
        # Whether there is room for the next layer is found out by padding, over which nobody loses a frame.
        frames = [second["frames"] for second in capped[6:]]
        # The smallest layer has 15 frames a second, as LiveKit's clients have it.
        assert 0 not in frames and sum(frames) > 0.7 * 15 * len(frames), said
        assert audible(capped) > 0.9 and audible(capped[6:]) > 0.98, said
        assert publisher.wait_for("link_limited", 1)["tracks"] == [{"source": "camera", "layers": 1, "of": 3}]
    wide = wide_again(watcher, 11)
    assert sum(map(is_wide, wide)) > 10, wide
    publisher.wait_for("link_restored", 10)


@pytest.mark.realtime
def test_video_as_it_is_waits_for_room_while_audio_goes_on(start, routed, visited_server, watcher, tmp_path):
    """Nobody can make less of it."""
    file = encode(tmp_path / "wide.mkv", (960, 540), 8, "-b:v", "1500k", "-maxrate", "1500k", "-bufsize", "750k")
    publisher = publish(start, routed, visited_server, file, "--loop")
    assert [track["sent"] for track in publisher.events[-1]["tracks"]] == ["as it is", "encoded"]
    before = list(seconds(watcher, 8))
    assert before[-1]["sizes"].get("960x540", 0) > FPS / 2, before
    with routed.bandwidth_to_server("500kbit"):
        capped = list(seconds(watcher, 16))
        said = [(second["sizes"], second["audible"], second["stretches"]) for second in capped]
        assert sum(second["frames"] for second in capped[6:]) < 2 * FPS, said
        assert audible(capped[6:]) > 0.95, said
    wide = wide_again(watcher, 6)
    assert sum(map(is_wide, wide)) > 5, wide


@pytest.mark.realtime
def test_lost_packets_are_sent_again(start, routed, visited_server, watcher, tmp_path):
    routed.drop(forward=f'iifname "client" {STUN} accept; iifname "client" meta l4proto udp numgen random mod 100 < 5 drop;')
    # In one layer, since another one does not have all frames.
    file = encode(tmp_path / "lossy.mkv", (640, 360), 20)
    publisher = publish(start, routed, visited_server, "--encode", "--single-layer", file)
    publisher.wait_for("finished", 40)
    seen = watcher.drain()
    numbers = [number for second in seen for number in second.get("numbers", ()) if number is not None]
    # Sizes change at the beginning.
    numbers = {number for number in numbers if number >= 2 * FPS}
    assert numbers and max(numbers) > 18 * FPS, numbers
    missing = sorted(set(range(2 * FPS, max(numbers))) - numbers)
    assert len(missing) <= 0.02 * len(numbers), f"{len(missing)} of {len(numbers)} are missing: {missing}"
    assert audible([second for second in seen if second.get("stretches")]) > 0.9


def unsteady(publishers, seconds):
    """Delays vary, as they do on the internet, so that receivers wait long enough for what is repeated: who sends stands
    still for a moment now and then."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for publisher in publishers:
            publisher.send(signal.SIGSTOP)
        time.sleep(0.06)
        for publisher in publishers:
            publisher.send(signal.SIGCONT)
        time.sleep(0.3)


def test_single_losses_of_audio_are_not_heard(start, routed, visited_server, watcher):
    """What is lost is asked for again, and is in the next packet, too: hardly anything has to be made up for."""
    routed.drop(forward=f'iifname "client" {STUN} accept; iifname "client" meta l4proto udp numgen random mod 100 < 10 drop;')
    publishers = [
        publish(start, routed, visited_server, "tone", *options, identity=identity)
        for identity, options in (("once", ["--no-red"]), ("twice", []))
    ]
    unsteady(publishers, 15)
    heard = watcher.wait_for_new("second")["concealed"]
    # One in ten is lost.
    assert set(heard) == {"once", "twice"} and max(heard.values()) < 0.03, heard
