"""A recorder that is killed leaves a file that plays up to the last two seconds."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import checks

FPS = 25
# Ten recordings of one participant.
FILES = [f"{index}.{container}" for index, container in enumerate(["mp4"] * 4 + ["mkv"] * 3 + ["webm"] * 3)]


def test_kill(server, tmp_path):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    rooms = {"h264": ("H264", ("mp4", "mkv")), "vp8": ("VP8", ("webm",))}
    for room, (codec, _) in rooms.items():
        server.foreign_publisher("--room", room, "--identity", "alice", "--codec", codec, "--duration", "120")

    def run(name, seconds):
        room = next(room for room, (_, containers) in rooms.items() if name.rsplit(".", 1)[1] in containers)
        recorder = server.recorder(room, "alice", tmp_path / name)
        recorder.wait_for("recording")
        begun = time.monotonic()
        time.sleep(seconds)
        recorder.kill()
        return time.monotonic() - begun

    with ThreadPoolExecutor(4) as pool:
        times = list(pool.map(run, FILES, [chance.uniform(2.5, 6) for _ in FILES]))
    for name, ran in zip(FILES, times):
        assert_plays(tmp_path / name, ran)


def assert_plays(file, ran):
    frames = list(checks.frames(file))
    numbers = [number for number, _, _ in checks.numbered(file) if number is not None]
    lost = ran - len(frames) / FPS
    assert lost < 2, f"{file.name}: killed after {ran:.1f} s, {len(frames)} frames, {lost:.1f} s lost"
    assert numbers and numbers == sorted(numbers), f"{file.name}: {numbers}"
    covered = checks.durations(file)
    assert ran - covered["audio"] < 2, f"{file.name}: killed after {ran:.1f} s, {covered} s stored"
