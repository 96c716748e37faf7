"""A whole room mixed into one video and one audio: who is there is seen in a tile, and heard."""

import json
import pathlib
import re
import signal
import time
import urllib.request
import wave

import av
import checks
import clip
import numpy as np
import pytest
from failures import after
from programs import KEYS, ROOT, mediabridge, python

FPS = 15
# Of publishers, whose encoders cost more than what is tested, and the frame in which four of them fit.
SMALL = ("--width", 320, "--height", 180, "--fps", FPS, "--bitrate", 500_000)
TILE = (320, 180)
HALF = ("--size", "640x360")


def composite(server, room, file, *options, layout="grid", url=None):
    return server.recorder(room, None, file, "--composite", layout, *options, url=url)


def tile(luma, column, row):
    width, height = TILE
    return luma[row * height : (row + 1) * height, column * width : (column + 1) * width]


def numbers(frames, column, row):
    """(seconds, number) of each frame in which a number is seen in that tile."""
    read = [(time, clip.read(tile(luma, column, row))) for time, luma in frames]
    return [(time, number) for time, number in read if number is not None]


def assert_goes_on(seen, begin, end):
    """The numbers go up with time, as the publisher's frames did, and no second is without."""
    within = [(time, number) for time, number in seen if begin <= time < end]
    assert within, f"nothing is seen from {begin} to {end}: {seen[:3]} … {seen[-3:]}"
    assert all(b[1] >= a[1] for a, b in zip(within, within[1:])), f"numbers go back: {within}"
    first, last = within[0], within[-1]
    assert last[1] - first[1] == pytest.approx((last[0] - first[0]) * FPS, abs=2), (first, last)
    assert max(b[0] - a[0] for a, b in zip(within, within[1:])) < 0.5, within


def test_who_sends_nothing_is_missing(server, tmp_path):
    """A camera that is published and does not come is said, also at the end."""
    server.foreign_publisher("--room", "still", "--identity", "alice", *SMALL)
    carol = server.foreign_publisher("--room", "still", "--identity", "carol", "--no-audio", *SMALL)
    # It is announced once something has come.
    time.sleep(2)
    carol.send(signal.SIGSTOP)
    recorder = composite(server, "still", tmp_path / "still.mkv", *HALF)
    recorder.wait_for("recording", 20)
    # So long is the first packet waited for.
    after(recorder, 12)
    recorder.send(signal.SIGINT)
    finished = recorder.wait_for("finished", 40)
    assert recorder.finish() == 1, recorder.report("all is there")
    assert [track["participant"] for track in finished["not_recorded"]] == ["carol"], finished
    carol.send(signal.SIGCONT)


@pytest.mark.realtime
def test_everybody_has_a_tile_and_is_heard(server, tmp_path):
    """Three from the beginning, in three codecs, one of whom speaks; one joins later, and one leaves."""
    server.foreign_publisher("--room", "grid", "--identity", "alice", *SMALL)
    silent = ("--room", "grid", "--no-audio", *SMALL)
    leaver = server.foreign_publisher(*silent, "--identity", "bob", "--codec", "H264")
    server.foreign_publisher(*silent, "--identity", "carol", "--codec", "VP9")
    file = tmp_path / "grid.mp4"
    recorder = composite(server, "grid", file, *HALF)
    recorder.wait_for("recording", 20)
    server.foreign_publisher(*silent, "--identity", "dave")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    leaver.write("leave")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 1.5)
    recorder.send(signal.SIGINT)
    finished = recorder.wait_for("finished", 40)
    seconds = finished["duration"]
    assert recorder.finish() == 0, recorder.report("failed")
    assert finished["not_recorded"] == [], recorder.report("something was left out")
    assert checks.codecs(file) == {"video": "h264", "audio": "aac"}
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert checks.sizes(file) == {(640, 360)}
    assert checks.durations(file) == pytest.approx({"video": seconds, "audio": seconds}, abs=0.3)

    frames = [(time, luma.copy()) for time, luma in checks.frames(file)]
    alice, bob, dave = numbers(frames, 0, 0), numbers(frames, 1, 0), numbers(frames, 1, 1)
    assert_goes_on(alice, 0.5, seconds)
    left = max(time for time, _ in bob if time < seconds - 1)
    assert_goes_on(bob, 0.5, min(left, 3))
    joined = min(time for time, _ in dave)
    assert 0 < joined < seconds - 1, f"dave is seen from {joined} on"
    # 30 frames a second are mixed of 15: each is seen twice.
    read = [(clip.read(tile(luma, 0, 0)), time, tile(luma, 0, 0)) for time, luma in frames]
    flashing = [frame for before, frame in zip([(None, 0, 0), *read], read) if frame[0] != before[0]]
    offsets = checks.flash_offsets(flashing, FPS, *checks.audio(file))
    assert len(offsets) >= seconds - 2.5 and max(map(abs, offsets)) <= 0.045, offsets


def marked(file):
    """Of each frame, whether there is red in the lower part of its left and of its right half."""
    with av.open(str(file)) as container:
        for frame in container.decode(video=0):
            red, green, blue = np.moveaxis(frame.to_ndarray(format="rgb24")[frame.height // 2 :].astype(int), 2, 0)
            is_red = (red > 140) & (green < 90) & (blue < 90)
            yield tuple(int(half.sum()) > 50 for half in np.split(is_red, 2, axis=1))


def test_a_muted_microphone_is_marked(server, tmp_path):
    server.foreign_publisher("--room", "marks", "--identity", "alice", *SMALL)
    bob = server.foreign_publisher("--room", "marks", "--identity", "bob", *SMALL)
    file = tmp_path / "marks.mp4"
    recorder = composite(server, "marks", file, "--names")
    recorder.wait_for("recording", 20)
    bob.write("mute")
    bob.wait_for("mute")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.send(signal.SIGINT)
    assert recorder.finish(40) == 0, recorder.report("failed")
    assert checks.decode_errors(file) == [] and checks.sizes(file) == {(1280, 720)}
    assert sorted(list(marked(file))[-1]) == [False, True], "bob is marked, and alice is not"


def test_a_machine_that_is_too_slow_drops_frames_and_no_audio(server, tmp_path):
    """An encoder that takes 120 ms for each of 30 frames a second: the file keeps its timeline, with fewer frames."""
    (tmp_path / "encode").mkdir()
    shipped = pathlib.Path(__file__).parents[2] / "pipelines" / "encode" / "h264.pipeline"
    slow = shipped.read_text().replace("! x264enc ", "! identity sleep-time=120000 ! x264enc ")
    (tmp_path / "encode" / "slow.pipeline").write_text(slow)
    server.foreign_publisher("--room", "slow", "--identity", "alice", *SMALL)
    file = tmp_path / "slow.mkv"
    options = ("--pipelines", tmp_path, "--encode", "slow", "--size", "320x180", "--fps", 30, "--duration", "9s")
    recorder = composite(server, "slow", file, *options)
    assert 0.5 < recorder.wait_for("too_slow", 30)["duration"] < 6
    ended = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    dropped = {track["kind"]: track["dropped"] for track in ended["tracks"]}
    assert dropped["audio"] == 0 and 0.4 < dropped["video"] / (9 * 30) < 0.8, dropped
    mix = next(event for event in recorder.events if event["event"] == "ended")["mix"]
    assert mix["audio_dropped"] == mix["audio_late"] == 0, mix
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert checks.durations(file) == pytest.approx({"video": 9, "audio": 9}, abs=0.3)
    times = [time for time, _ in checks.frames(file)]
    assert max(b - a for a, b in zip(times, times[1:])) < 0.4, "they are dropped evenly"
    read = [(time, clip.read(luma)) for time, luma in checks.frames(file)]
    offsets = np.array([time - number / FPS for time, number in read if number is not None])
    assert len(offsets) > 30 and np.ptp(offsets[3:-3]) < 0.15, offsets
    # Each second begins with a beep, and with a number that is a whole second's.
    beeps = checks.beeps(*checks.audio(file))
    assert len(beeps) >= 8, beeps
    strays = [(beep - float(np.median(offsets)) + 0.5) % 1 - 0.5 for beep in beeps]
    assert max(map(abs, strays)) < 0.1, strays


WAVE = """# PCM in a file.
appsrc name=audio max-buffers=1000 max-bytes=0 leaky-type=downstream
  caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
! wavenc ! filesink location=${location}
"""


def test_voices_are_mixed_and_do_not_clip(server, tmp_path):
    """Four voices at once, each loud: what is above half of full scale is bent, and no sample reaches the end."""
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "wave.pipeline").write_text(WAVE)
    for name in ("alice", "bob", "carol", "dave"):
        server.foreign_publisher("--room", "voices", "--identity", name, "--no-video", "--tone")
    file = tmp_path / "voices"
    options = ("--output", "wave", "--pipelines", tmp_path, "--duration", "4s")
    recorder = composite(server, "voices", file, *options)
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    _, samples = checks.audio(file)
    assert len(samples) / clip.RATE == pytest.approx(4, abs=0.3)
    middle = samples[clip.RATE : 3 * clip.RATE]
    # Two channels made one are louder by the root of two. One voice alone has an amplitude of 0.37; how far the four add
    # up depends on when they began.
    assert 0.2 < np.abs(middle).max() / np.sqrt(2) < 0.999
    assert checks.frequency(middle) == pytest.approx(clip.TONE, abs=5)


def test_an_agent_is_heard_left_and_all_others_right(server, tmp_path):
    """The agent sends a tone without a pause, the others beep in the first tenth of each second."""
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "wave.pipeline").write_text(WAVE)
    server.foreign_publisher("--room", "call", "--identity", "helper", "--no-video", "--tone", "--agent")
    for name in ("alice", "bob"):
        server.foreign_publisher("--room", "call", "--identity", name, "--no-video")
    file = tmp_path / "call"
    mixing = ("--audio-mixing", "dual-channel-agent")
    options = ("--output", "wave", "--pipelines", tmp_path, "--duration", "4s")
    recorder = composite(server, "call", file, *mixing, *options)
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    with wave.open(str(file)) as stored:
        samples = np.frombuffer(stored.readframes(stored.getnframes()), np.int16).reshape(-1, 2)[clip.RATE :]
    # The loudest of each 10 ms.
    loudest = np.abs(samples[: len(samples) // 480 * 480].astype(int)).reshape(-1, 480, 2).max(axis=1)
    left, right = loudest[:, 0], loudest[:, 1]
    assert (left > 6000).mean() > 0.9, "the agent's tone has a pause"
    assert (right < 100).mean() > 0.6 and right.max() > 6000, "beeps and silence between them"


def test_a_muted_camera_is_black_and_a_screen_share_is_large(server, tmp_path):
    """Zoe, the third, mutes her camera, then dave shares his screen: it takes the large place, the cameras the strip."""
    stay = ("--duration", "60")
    for name in ("bob", "carol"):
        server.foreign_publisher("--room", "share", "--identity", name, "--no-audio", *SMALL, *stay)
    muter = server.foreign_publisher("--room", "share", "--identity", "zoe", "--no-audio", *SMALL, *stay)
    file = tmp_path / "share.mkv"
    recorder = composite(server, "share", file, *HALF, "--fps", FPS)
    after(recorder, 1)
    muter.write("mute-video")
    muter.wait_for("mute-video")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 1)
    server.foreign_publisher("--room", "share", "--identity", "dave", "--no-audio", "--no-video", "--screen", "last")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 5)
    recorder.send(signal.SIGINT)
    recorder.wait_for("finished", 20)
    assert recorder.finish() == 0, recorder.report("failed")
    frames = [(time, luma.copy()) for time, luma in checks.frames(file)]
    # While the grid was there still.
    grids = [luma for _, luma in frames if None not in (clip.read(tile(luma, 0, 0)), clip.read(tile(luma, 1, 0)))]
    before, last = grids[-1], frames[-1][1]
    assert tile(before, 0, 1).max() < 30, "a muted camera is black"
    main, strip = last[:, 107:], last[:, :107]
    # The screen is 640x360 of luma 200, without bars in a place of 533x360 but above and below.
    assert abs(float(main[150:210].mean()) - 187) < 15 and main[:20].max() < 30
    assert strip[67:200].mean() > 40, "the cameras are in the strip"


def lay_out(at, layout):
    """The server sets the metadata of the one who records, as that of LiveKit Egress does."""
    said = json.dumps({"layout": layout}).encode()
    assert urllib.request.urlopen(f"http://{at}/metadata", data=said, timeout=5).read() == b"1"


def test_the_layout_changes_while_it_runs(local_server, start, tmp_path):
    """From a layout of one's own, in which two halves are left free, to `grid`, to one on white and back by its name."""
    (tmp_path / "halves.yaml").write_text(
        "tiles:\n  - {x: 0, y: 0, width: 1/2, height: 1/2, participant: 'b*'}\n"
        "  - {x: 1/2, y: 1/2, width: 1/2, height: 1/2, participant: 'a*', source: camera}\n"
    )
    proxy = start(python("signal_proxy.py", "--to", local_server.url))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    for name in ("alice", "bob"):
        local_server.own_publisher("change", name, "vp8")
    file = tmp_path / "change.mkv"
    options = ("--composite", tmp_path / "halves.yaml", "--size", "640x360")
    recorder = local_server.recorder("change", None, file, *options, url=f"ws://{at}")
    recorder.wait_for("recording", 20)
    for layout in ("grid", "speaker-light", "halves"):
        after(recorder, recorder.wait_for("progress")["duration"] + 2)
        lay_out(at, layout)
    after(recorder, recorder.wait_for("progress")["duration"] + 3)
    recorder.send(signal.SIGINT)
    recorder.wait_for("finished", 20)
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.decode_errors(file) == [] and checks.disorder(file) == [] and checks.sizes(file) == {(640, 360)}
    seen = ""
    for _, luma in checks.frames(file):
        quarters = [luma[y : y + 180, x : x + 320].mean() > 30 for y in (0, 180) for x in (0, 320)]
        # The strip beside who speaks is for more than one.
        on_white = luma[300:, :80].min() > 225
        seen += "w" if on_white else {(True, False, False, True): "h", (True,) * 4: "g"}.get(tuple(quarters), "-")
    # All tiles change in one frame; the background does so by itself, some frames before.
    seen = re.sub(r"(.)\1*", lambda run: run[0] if len(run[0]) >= 8 else "-" * len(run[0]), seen)
    order = seen.replace("-", "")
    assert "".join(kind for kind, before in zip(order, "-" + order) if kind != before) == "hgwh", seen
    assert seen.strip("-").count("-") < 10, f"something else is seen within a change: {seen}"


def test_of_one_participant_the_newest_is_seen(server, tmp_path):
    """Alice shares her screen beside her camera, and mutes and unmutes that; Bob is neither seen nor heard."""
    server.foreign_publisher("--room", "one", "--identity", "bob", "--tone", *SMALL)
    alice = server.foreign_publisher("--room", "one", "--identity", "alice", "--no-audio", *SMALL)
    file = tmp_path / "one.mkv"
    of_alice = ("--participant", "alice", "--size", "640x360", "--until-left")
    recorder = composite(server, "one", file, *of_alice, layout="participant")
    for seconds, action in ((2, "screen"), (4.5, "mute-video"), (6, "unmute-video"), (8.5, "leave")):
        after(recorder, seconds)
        alice.write(action)
    assert recorder.wait_for("finished", 30)["ended"] == "participant_left", recorder.report("another end")
    assert recorder.finish() == 0, recorder.report("failed")
    frames = [luma.copy() for _, luma in checks.frames(file)]
    # The screen is plain, the camera a chequerboard; what has left is black.
    seen = "".join("c" if luma.std() > 10 else "s" if luma.mean() > 150 else "-" for luma in frames).rstrip("-")
    shown = seen.replace("-", "")
    assert "".join(kind for kind, before in zip(shown, "-" + shown) if kind != before) == "csc", seen
    assert seen.count("-") < 10, f"nothing is seen between: {seen}"
    assert checks.sizes(file) == {(640, 360)}
    assert np.abs(checks.audio(file)[1]).max() < 0.01, "Bob is heard"


def is_placeholder(luma, column, row):
    """White letters on one colour, which is not black."""
    shown = tile(luma, column, row)
    middle = np.median(shown)
    return 40 < middle < 130 and shown.max() > 200 and (abs(shown.astype(int) - middle) < 4).mean() > 0.9


def test_who_has_no_camera_has_a_tile_of_its_own(server, tmp_path):
    """Bob brings his camera later, Alice mutes hers for a while: the tiles stay where they are."""
    bob = server.foreign_publisher("--room", "holders", "--identity", "<b>&😀", "--no-video", "--no-audio", *SMALL)
    alice = server.foreign_publisher("--room", "holders", "--identity", "alice", "--no-audio", *SMALL)
    file = tmp_path / "holders.mkv"
    recorder = composite(server, "holders", file, "--placeholders", "--size", "640x180")
    for seconds, who, action in ((2, alice, "mute-video"), (4, alice, "unmute-video"), (6, bob, "publish:VP8")):
        after(recorder, seconds)
        who.write(action)
    bob.wait_for("publish")
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.send(signal.SIGINT)
    recorder.wait_for("finished", 20)
    assert recorder.finish() == 0, recorder.report("failed")
    frames = [luma.copy() for _, luma in checks.frames(file)]
    assert is_placeholder(frames[5], 1, 0), "Bob has no camera"
    states = ["".join("P" if is_placeholder(luma, column, 0) else "-" for luma in frames[::5]) for column in (0, 1)]
    held = states[0].strip("-")
    assert len(held) >= 6 and set(held) == {"P"}, states
    # Nothing is seen between the placeholder and the first frame.
    assert set(states[1].rstrip("-")) == {"P"} and states[1].endswith("-----"), states
    # libwebrtc sends some frames of its own black, which is that of no video range, before the word of the mute comes.
    black = [number for number, luma in enumerate(frames) if number >= 5 and tile(luma, 0, 0).mean() < 40]
    first = next(number for number, luma in enumerate(frames) if is_placeholder(luma, 0, 0))
    assert black == list(range(first - len(black), first)) and len(black) < 30, f"{black}: it is black for a while"
    assert all(tile(frames[number], 0, 0).max() < 10 for number in black), "the black is ours"
    assert all(tile(luma, 1, 0).mean() > 40 for luma in frames[5:]), "Bob's is never black"
    assert clip.read(tile(frames[-1], 0, 0)) and clip.read(tile(frames[-1], 1, 0)), "both are seen at the end"


def test_corners_are_rounded_over_the_background(server, tmp_path):
    for identity in ("alice", "bob"):
        server.foreign_publisher("--room", "corners", "--identity", identity, "--no-audio", *SMALL)
    file = tmp_path / "corners.mkv"
    options = ("--size", "640x180", "--gap", 8, "--corner-radius", 20, "--background", "white", "--duration", "3s")
    recorder = composite(server, "corners", file, *options)
    assert recorder.finish(60) == 0, recorder.report("failed")
    # One that does not flash.
    shown = min((luma.astype(int) for _, luma in checks.frames(file)), key=np.mean)
    for left, right in ((8, 315), (324, 631)):
        corners = [shown[y, x] for x in (left, right) for y in (8, 171)]
        assert min(corners) > 220, f"the background is not seen at {left}: {corners}"
        edges = [shown[90, left + 3], shown[90, right - 3], shown[168, (left + right) // 2]]
        assert max(edges) < 205, f"the frame is not seen at {left}: {edges}"


def test_who_is_not_chosen_is_neither_seen_nor_heard(server, tmp_path):
    """One of three is left out, whose frames have other numbers and whose beeps are higher."""
    publisher = ("--room", "some", *SMALL, "--keep-size")
    server.foreign_publisher(*publisher, "--identity", "guest-1", "--beep", 700)
    server.foreign_publisher(*publisher, "--identity", "bob", "--beep", 1100, "--first-number", 6000)
    server.foreign_publisher(*publisher, "--identity", "carol", "--beep", 1500, "--first-number", 12_000)
    file = tmp_path / "some.mp4"
    chosen = ("--participant", "guest-*", "--participant", "bob")
    # Two tiles beside each other fill it, three would be smaller.
    recorder = composite(server, "some", file, "--size", "640x180", *chosen, "--duration", "4s", "--manifest")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    frames = [(time, luma.copy()) for time, luma in checks.frames(file)]
    seen = [{number // 6000 for _, number in numbers(frames, column, 0)} for column in (0, 1)]
    assert sorted(map(sorted, seen)) == [[0], [1]], f"frames of {seen} are seen"
    heard = {pitch: len(checks.beeps_of(*checks.audio(file), pitch)) for pitch in (700, 1100, 1500)}
    assert heard[700] >= 2 and heard[1100] >= 2 and heard[1500] == 0, heard
    told = json.loads((tmp_path / "some.mp4.json").read_text())
    assert {track["publisher_identity"] for track in told["tracks"]} == {"guest-1", "bob"}, "carol is subscribed to"
    assert {turn["identity"] for turn in told["speakers"]} <= {"guest-1", "bob"}, told["speakers"]


# Of one's frames the numbers, and the frequency of its beeps, are no other's.
PITCHES = {"alice": 700, "bob": 1100}
APART = 6000


@pytest.fixture
def pair(server):
    """Two participants in a room called so."""
    for index, (name, pitch) in enumerate(PITCHES.items()):
        options = ("--first-number", index * APART, "--beep", pitch, "--keep-size", "--duration", "120")
        server.foreign_publisher("--room", "pair", "--identity", name, *SMALL, *options)


def record_pair(server, file, url=None):
    """Which has 3 s of them."""
    recorder = composite(server, "pair", file, "--size", "640x180", url=url)
    after(recorder, 3)
    return recorder


def finish_pair(recorder, file):
    """In 3 s; the file is whole, and nothing was left out."""
    after(recorder, recorder.wait_for_new("progress")["duration"] + 3)
    recorder.send(signal.SIGINT)
    told = recorder.wait_for("finished", 20)
    assert recorder.finish() == 0 and told["not_recorded"] == [], recorder.report("failed")
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert checks.sizes(file) == {(640, 180)}
    assert checks.durations(file) == pytest.approx({"video": told["duration"], "audio": told["duration"]}, abs=0.3)


def assert_both_go_on(file, pause):
    """Each is seen in every frame, in which it stands still for `pause` seconds at most, and heard again after that."""
    frames = [(time, luma.copy()) for time, luma in checks.frames(file)]
    read = [(time, clip.read(tile(luma, column, 0))) for time, luma in frames for column in (0, 1)]
    times, sound = [time for time, _ in frames], checks.audio(file)
    for index, (name, pitch) in enumerate(PITCHES.items()):
        seen = [(time, number) for time, number in read if number is not None and number // APART == index]
        # The second one comes a frame later.
        assert [time for time, _ in seen if time > 0.5] == [time for time in times if time > 0.5], f"{name} is missing"
        assert_goes_on_after(name, seen, times[-1], pause)
        heard = np.array([time for time, _ in checks.beeps_of(*sound, pitch)])
        apart = np.diff(heard)
        assert apart == pytest.approx(apart.round(), abs=0.05) and apart.max() < pause + 1.05, f"{name}: {heard.round(2)}"
        assert heard[-1] > times[-1] - 1.2, f"{name} is not heard at the end: {heard.round(2)}"


def assert_goes_on_after(name, seen, end, pause):
    """What comes after the pause is as late as what came before it."""
    new = [seen[0], *(b for a, b in zip(seen, seen[1:]) if a[1] != b[1])]
    times, numbers = np.array(new).T
    assert all(np.diff(numbers) > 0), f"{name}'s frames go back: {numbers}"
    held = np.diff([*times, end])
    assert held.max() < pause, f"{name} stands still for {held.max():.2f} s from {times[held.argmax()]:.2f} s on"
    late = times - numbers / FPS
    assert np.ptp(late) < 0.2, f"{name}'s frames are moved: {late.round(2)}"


# What is sent in the place of whole frames of VP8: some packets of them are left out before they are numbered, so that nobody
# asks for them, or all are noise.
SPOILT = {
    "truncated": "! rtpvp8pay mtu=${mtu:-300} picture-id-mode=15-bit ! identity drop-probability=0.1",
    "garbage": "! fakesink audiotestsrc is-live=true wave=white-noise ! mulawenc ! rtppcmupay mtu=${mtu:-300}",
}
PLACES = ((0, "alice"), (0.5, "mallory"))


@pytest.mark.realtime
@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_camera_that_sends_what_is_no_vp8_spoils_nobody_else(server, start, tmp_path, spoilt):
    texts = tmp_path / "texts/send"
    texts.mkdir(parents=True)
    text = (ROOT / "pipelines/send/vp8.pipeline").read_text()
    payloader = "! rtpvp8pay mtu=${mtu:-1180} picture-id-mode=15-bit"
    assert payloader in text
    (texts / "vp8.pipeline").write_text(text.replace(payloader, SPOILT[spoilt]))
    server.foreign_publisher("--room", "spoilt", "--identity", "alice", "--keep-size", "--duration", 60, *SMALL)
    file = tmp_path / "spoilt.mp4"
    layout = tmp_path / "two.yaml"
    places = [f"  - {{x: {x}, y: 0, width: 0.5, height: 1, participant: {name}}}\n" for x, name in PLACES]
    layout.write_text("tiles:\n" + "".join(places))
    recorder = composite(server, "spoilt", file, "--size", "640x180", layout=layout)
    after(recorder, 2)
    at = ("--url", server.url, *KEYS, "--room", "spoilt", "--identity", "mallory", "--pipelines", tmp_path / "texts")
    mallory = start(server.enter(*mediabridge("publish", *at, "--json", "--codec", "vp8", "pattern")))
    after(recorder, recorder.wait_for_new("progress")["duration"] + 8)
    mallory.stop()
    after(recorder, recorder.wait_for_new("progress")["duration"] + 2)
    recorder.send(signal.SIGINT)
    told = recorder.wait_for("finished", 20)
    # What cannot be mixed is said, and then the exit status is not 0.
    assert recorder.finish() == (1 if told["not_recorded"] else 0), recorder.report("ends otherwise")
    assert "mallory" in recorder.errors or not told["not_recorded"], recorder.report("is not told")
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert checks.durations(file) == pytest.approx({"video": told["duration"], "audio": told["duration"]}, abs=0.3)
    frames = [(time, luma.copy()) for time, luma in checks.frames(file)]
    assert_goes_on(numbers(frames, 0, 0), 1, frames[-1][0] - 0.5)
    # Of frames that lack something there is something to see. Black is 16, the pattern as it is some 40.
    seen = [time for time, luma in frames if tile(luma, 1, 0).mean() > 25]
    assert len(seen) > 150 if spoilt == "truncated" else not seen, f"{len(seen)} frames"


@pytest.mark.realtime
def test_all_are_in_it_again_when_the_connection_is_made_anew(server, pair, start, tmp_path):
    proxy = start(server.enter(*python("signal_proxy.py", "--to", server.url)))
    at = f"127.0.0.1:{proxy.wait_for('listening')['port']}"
    file = tmp_path / "anew.mp4"
    recorder = record_pair(server, file, f"ws://{at}")
    assert server.ask(f"http://{at}/leave?action=RECONNECT") == "1"
    assert recorder.wait_for("reconnected", 20)["mode"] == "full"
    finish_pair(recorder, file)
    assert_both_go_on(file, 1.2)


@pytest.mark.realtime
def test_all_are_in_it_again_when_the_server_starts_again(server, pair, tmp_path):
    """Everybody loses it; the publishers, which are not ours, come back by themselves, and that is waited for."""
    file = tmp_path / "again.mp4"
    recorder = record_pair(server, file)
    server.end(signal.SIGKILL)
    server.program.finish(10)
    time.sleep(1)
    watcher = server.start_again().watcher("pair")
    for _ in range(2 * len(PITCHES)):
        watcher.wait_for("track_subscribed", 60)
    watcher.stop()
    assert recorder.wait_for("reconnected", 60)["mode"] == "full"
    away = recorder.wait_for_new("progress")["duration"] - 3
    finish_pair(recorder, file)
    assert_both_go_on(file, away + 1)


@pytest.mark.parametrize(
    "options, said",
    [
        (("--composite", "mosaic"), "grid, speaker, single-speaker, screen-share"),
        (("--composite", "grid", "--track-name", "cam-*"), "a composite has all tracks"),
        (("--composite", "grid", "--participant", "guest-*", "--until-left"), "--until-empty does"),
        (("--composite", "participant"), "--participant IDENTITY"),
        (("--composite", "grid", "--size", "641x360"), "even numbers"),
        (("--composite", "grid", "--fps", "0"), "give 1 to 120"),
        (("--fps", "30"), "give --composite LAYOUT"),
        (("--composite", "grid", "--set", "dealy=1"), "'delay'"),
        (("--composite", "grid", "--set", "width=641"), "even numbers"),
        (("--composite", "grid", "--set", "framerate=30000/1001"), "no value for `framerate`"),
        (("--composite", "grid", "--gap", "7"), "an even number"),
        (("--composite", "grid", "--corner-radius", "200"), "from 0 to 90"),
        (("--composite", "grid", "--background", "mauve"), "no colour"),
        (("--composite", "grid", "--background", "gone.png"), "gone.png cannot be read"),
        (("--composite", "grid", "--logo", __file__), "neither a PNG nor a JPEG"),
        (("--background", "white"), "give --composite LAYOUT"),
    ],
)
def test_mistakes_are_named(local_server, tmp_path, options, said):
    recorder = local_server.recorder("wrong", None, tmp_path / "wrong.mp4", *options)
    assert recorder.finish(20) != 0
    assert said in recorder.errors + str(recorder.events), recorder.report("says something else")
