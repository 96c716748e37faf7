"""The file of `mediabridge run`: what is wrong is said by line and column, all of it at once."""

import json
import re
import subprocess

import jsonschema
import pytest
import yaml
from programs import ROOT, mediabridge

ROOMS = """rooms:
  main:
    url: ws://127.0.0.1:9
    room: talks
    api-key: ${env:KEY}
    api-secret: ${env:SECRET}
"""
JOB = ROOMS + "jobs:\n  a:\n    destinations: a.mkv\n"
FRAMES = ROOMS + "jobs:\n  a:\n    kind: frames\n    destination: a.raw\n"
PCM = FRAMES.replace("kind: frames", "kind: pcm")

# What is written, and each mistake with its line (and column) and words of what is said.
BROKEN = {
    "empty": ("", [("", "no configuration")]),
    "only a remark": ("# nothing\n", [("", "no configuration")]),
    "a list": ("- rooms\n", [("1:1", "the file takes `name: value`")]),
    "no YAML": ("rooms: {main: [\n", [("2:", "no YAML")]),
    "a tab": ("rooms:\n\tmain: x\n", [("2:1", "no YAML")]),
    "nested too deep": ("a: " + "[" * 200 + "\n", [("1:1", "nested too deep")]),
    "twice": ("rooms: {}\nrooms: {}\n", [("2:1", "`rooms` is there twice")]),
    "a key of a job twice": (JOB + "    wait: 1s\n    wait: 2s\n", [("11:5", "`wait` is there twice")]),
    "a name twice in braces": ("jobs: {a: {}, b: {}, a: {}}\n", [("1:22", "`a` is there twice")]),
    "no jobs": (ROOMS, [("1:1", "`jobs` is missing")]),
    "no rooms": ("jobs: {a: {destinations: a.mkv}}\n", [("1:1", "`rooms` is missing")]),
    "empty jobs": (ROOMS + "jobs: {}\n", [("7:1", "`jobs` is empty")]),
    "unknown at the top": (JOB + "job: {}\n", [("10:1", "did you mean `jobs`?")]),
    "unknown in a room": (JOB.replace("url:", "ulr:"), [("3:5", "did you mean `url`?")]),
    "unknown in a job": (JOB + "    audio_only: true\n", [("10:5", "did you mean `audio-only`?")]),
    "unknown and like nothing": (JOB + "    quality: 7\n", [("10:5", "there is kind, room, participant")]),
    "unknown room": (JOB + "    room: mian\n", [("10:11", "did you mean `main`?")]),
    "which room": (JOB.replace("jobs:", "  other: {room: x, dev: true}\njobs:"), [("9:3", "`room` is missing: say which")]),
    "name of two words": (JOB.replace("  a:", "  a b:"), [("8:3", "is no name")]),
    "a room that is a text": ("rooms: {main: talks}\njobs: {a: {destinations: a.mkv}}\n", [("1:15", "a room takes")]),
    "no room's name": (JOB.replace("    room: talks\n", ""), [("2:3", "no room")]),
    "address of no server": (JOB.replace("ws://127.0.0.1:9", "''"), [("3:10", "`url` takes text")]),
    "secret in the file": (JOB.replace("${env:SECRET}", "hunter2"), [("6:17", "a secret does not stand in this file")]),
    "token in the file": (JOB.replace("api-key: ${env:KEY}", "token: eyJhbGci"), [("5:12", "write ${env:NAME}")]),
    "secret that is not set": (JOB.replace("env:SECRET", "env:NO_SUCH"), [("6:17", "the environment has no NO_SUCH")]),
    "environment elsewhere": (JOB + "    participant: ${env:KEY}\n", [("10:18", "for secrets only")]),
    "environment in a file's name": (JOB.replace("a.mkv", "${env:KEY}.mkv"), [("9:19", "the name of this file")]),
    "a relay's password in the file": (
        JOB.replace("jobs:", "    ice-server: turn:h\n    ice-credential: hunter2\njobs:"),
        [("8:21", "a secret does not stand in this file")],
    ),
    "a relay that is missing": (JOB.replace("jobs:", "    ice-username: u\njobs:"), [("7:5", "give `ice-server`, too")]),
    "attempts": (JOB.replace("jobs:", "    reconnect-attempts: often\njobs:"), [("7:25", "a whole number such as 10")]),
    "no folder of pipelines": (JOB.replace("jobs:", "    pipelines: /no/such\njobs:"), [("7:5", "/no/such cannot be used")]),
    "values of the room": (JOB.replace("jobs:", "    set: {bitrate: 5}\njobs:"), [("7:5", "bitrate")]),
    "no destinations": (ROOMS + "jobs: {a: {audio-only: true}}\n", [("7:8", "`destinations` is missing")]),
    "empty destinations": (JOB.replace("a.mkv", "[]"), [("9:19", "this list is empty")]),
    "no template": (JOB.replace("a.mkv", "[b.mkv, a.xyz]"), [("9:27", "has to end in one of")]),
    "a stream without a key": (JOB.replace("a.mkv", "rtmp://server"), [("9:19", "lacks an application")]),
    "a port of no server": (JOB.replace("a.mkv", "'udp://h:99999'"), [("9:19", "port 99999 does not exist")]),
    "a mode of no SRT": (JOB.replace("a.mkv", "'srt://h:1?mode=lstener'"), [("9:19", "did you mean listener?")]),
    "a short passphrase": (JOB.replace("a.mkv", "'srt://h:1?passphrase=SHORT'"), [("9:19", "10 to 79 bytes")]),
    "a template without a file": (JOB.replace("a.mkv", "[a.mkv, 'mkv=']"), [("9:27", "'mkv=' lacks a file")]),
    "one file twice": (JOB.replace("a.mkv", "[a.mkv, b.mkv, ./a.mkv]"), [("9:", "a.mkv and ./a.mkv are the same")]),
    "standard output of a recording": (JOB.replace("a.mkv", "mkv=/dev/stdout"), [("9:19", "carries what is told")]),
    "a server without an address": (JOB.replace("ws://127.0.0.1:9", "foo"), [("3:10", "'foo' is not a server")]),
    "a socket without a path": (FRAMES.replace("a.raw", "'unix:'"), [("10:18", "'unix:' lacks the path")]),
    "samples in a folder": (
        FRAMES.replace("a.raw", "shots/") + "    format: rgb24\n", [("10:18", "shots/ is a folder, which takes images")]
    ),
    "a port of no WebSocket": (PCM.replace("a.raw", "'ws://h:99999/x'"), [("10:18", "port 99999 does not exist")]),
    "unknown in a destination": (JOB.replace("a.mkv", "{location: a.mkv, outptu: mp4}"), [("9:37", "`output`?")]),
    "a destination of nothing": (JOB.replace("a.mkv", "{output: mp4}"), [("9:19", "`location` is missing")]),
    "values of a destination": (JOB.replace("a.mkv", "{location: a.mkv, set: {bitrat: 5}}"), [("9:19", "bitrat")]),
    "a time": (JOB + "    duration: soon\n", [("10:15", "such as 30s, 5m or 1h30m")]),
    "a list for a time": (JOB + "    duration: [1s, 2s]\n", [("10:15", "this is a list")]),
    "a size in bytes": (JOB + "    max-size: much\n", [("10:15", "500M or 2G")]),
    "a size of frames": (JOB + "    size: 1280\n", [("10:11", "1280x720")]),
    "a flag": (JOB + "    overwrite: maybe\n", [("10:16", "true or false; this is 'maybe'")]),
    "nothing": (JOB + "    preset:\n", [("10:", "this is nothing")]),
    "a choice": (JOB + "    preset: 720p31\n", [("10:13", "did you mean `720p30`?")]),
    "a source": (JOB + "    source: [camera, scren]\n", [("10:22", "did you mean `screen`?")]),
    "a layout": (JOB + "    composite: mosaic\n", [("10:16", "grid, speaker")]),
    "a layout's file": (JOB + "    composite: none.yaml\n", [("10:16", "cannot be read")]),
    "an encoder": (JOB + "    encode: h246\n", [("10:", "h264")]),
    "values of no template": (JOB + "    set: {bitrat: 500}\n", [("10:5", "bitrat")]),
    "values that are a list": (JOB + "    set: [bitrate=500]\n", [("10:10", "{bitrate: 1500}")]),
    "options that exclude each other": (
        JOB + "    composite: grid\n    track: TR_1\n", [("10:5", "`composite` and `track` exclude")]
    ),
    "what is for a mixed room": (JOB + "    names: true\n", [("10:5", "`names` is for a mixed room")]),
    "names without video": (
        JOB.replace("a.mkv", "a.mp3") + "    composite: grid\n    names: true\n",
        [("11:5", "`names` is for video, and a.mp3 has none")],
    ),
    "two of whom one is taken": (
        JOB + "    participant: [alice, bob]\n", [("10:5", "`participant` alice and `participant` bob: one alone")]
    ),
    "two of whom one is heard": (
        PCM + "    participant: [alice, bob]\n", [("11:5", "`participant` alice and `participant` bob: one alone")]
    ),
    "no video and no audio": (
        JOB + "    audio-only: true\n    video-only: true\n", [("10:5", "`audio-only` and `video-only` exclude")]
    ),
    "labels of no mixed room": (JOB + "    label-topic: chat\n", [("10:5", "`label-topic` is for a mixed room")]),
    "captions in no mixed room": (JOB + "    burn-captions: true\n", [("10:5", "`burn-captions` is for a mixed room")]),
    "labels without a topic": (JOB + "    composite: grid\n    label-topic: ''\n", [("11:", "such as captions")]),
    "labels of another name": (JOB + "    composite: grid\n    label-topics: chat\n", [("11:5", "did you mean `label-topic`?")]),
    "files of their own": (JOB + "    each: participant\n", [("9:19", "{publisher_identity}")]),
    "a command that names no file": (JOB + "    on-complete: echo\n", [("10:5", '"$1"')]),
    "beside another mistake": (
        JOB + "    duration: soon\n    composite: grid\n    track: TR_1\n",
        [("10:15", "30s"), ("11:5", "`composite` and `track` exclude")],
    ),
    "a name and a track": (JOB + "    track: TR_1\n    track-name: cam-*\n", [("11:5", "`track-name` and `track` exclude")]),
    "who joins": (
        JOB.replace("talks", "talks\n    identity: alice") + "    participant: alice\n",
        [("11:5", "`participant` alice and `identity` alice exclude each other")],
    ),
    "a bitrate": (JOB + "    video-bitrate: 3000000\n", [("10:20", "'3000000': it is a whole number of kbit/s")]),
    "a file of something else": (PCM.replace("a.raw", "a.mp3"), [("10:18", "'a.mp3' would hold raw samples")]),
    "another format than its name's": (
        PCM.replace("a.raw", "a.wav") + "    format: f32le\n", [("10:18", "leave out `format`, or name it a.raw")]
    ),
    "drawings": ("dot: []\n" + JOB, [("1:6", "`dot` takes text such as drawings; this is a list")]),
    "a kind": (FRAMES.replace("kind: frames", "kind: framse"), [("9:11", "did you mean `frames`?")]),
    "frames that go nowhere": (ROOMS + "jobs: {a: {kind: frames}}\n", [("7:8", "`destination` is missing")]),
    "destinations of frames": (
        FRAMES.replace("destination:", "destinations:"),
        [("8:3", "`destination` is missing"), ("10:5", "did you mean `destination`?")],
    ),
    "a key of another kind": (JOB + "    format: rgb24\n", [("10:5", "it is a key of `kind: frames` or `kind: pcm`")]),
    "audio of frames": (
        FRAMES + "    composite: grid\n    audio-mixing: default\n", [("12:5", "it is a key of `kind: record`")]
    ),
    "a format": (FRAMES + "    format: rgb42\n", [("11:13", "did you mean `rgb24`?")]),
    "a size of all frames": (FRAMES + "    size: small\n", [("11:11", "`size` 'small': write a size such as 1280x720")]),
    "a rate of frames": (FRAMES + "    fps: 0\n", [("11:5", "`fps` 0: give 1 to 120")]),
    "a rate of samples": (PCM + "    rate: 7\n", [("11:5", "`rate` 7: give 8000 to 192000")]),
    "channels": (PCM + "    channels: two\n", [("11:15", "a whole number")]),
    "a mix of each": (PCM + "    mix: true\n    each: true\n    framed: true\n", [("11:5", "`mix` and `each` exclude")]),
    "a source of the other kind": (FRAMES + "    source: microphone\n", [("11:13", "one of camera, screen")]),
    "each in one file": (FRAMES + "    each: true\n", [("11:5", "put {publisher_identity} into its name")]),
    "a reply of nobody": (FRAMES + "    reply: data\n", [("11:5", "give `exec`")]),
    "labels of audio": (PCM.replace("destination: a.raw", "exec: cat") + "    reply: label\n", [("11:12", "one of data")]),
    "a command and a file": (FRAMES + "    exec: cat\n", [("11:5", "`exec` and a.raw exclude each other")]),
    "information on a descriptor": (FRAMES + "    info: 3\n", [("11:11", "give a file")]),
    "a pipe's name": (FRAMES.replace("a.raw", "${env:KEY}.raw"), [("10:18", "write the name here")]),
    "a WebSocket of frames": (FRAMES.replace("a.raw", "ws://host/x"), [("10:18", "a WebSocket takes audio alone")]),
    "a secret of a WebSocket": (PCM.replace("a.raw", "ws://host/${env:NO_SUCH}"), [("10:18", "has no NO_SUCH")]),
    "shared memory of audio": (PCM.replace("a.raw", "shm:a"), [("10:18", "shared memory is for frames")]),
    "values of what receives": (FRAMES + "    set: {latency: 100}\n", [("11:5", "set it in the room")]),
    "an odd frame": (FRAMES + "    composite: grid\n    size: 641x361\n", [("8:3", "even numbers")]),
    "standard output twice": (
        FRAMES.replace("a.raw", "'-'") + "  b: {kind: pcm, destination: '-'}\n",
        [("11:18", "standard output is that of 'a' already")],
    ),
    "one file of two recordings": (
        JOB + "  b: {destinations: ./a.mkv}\n", [("10:21", "'./a.mkv' is that of 'a' already: two jobs cannot write")]
    ),
    "one file of two kinds": (
        FRAMES + "  b: {kind: pcm, destination: b.raw, info: a.raw}\n", [("11:44", "'a.raw' is that of 'a' already")]
    ),
    "information between the samples": (PCM + "    info: ./a.raw\n", [("11:5", "`info` ./a.raw: the media goes there")]),
    "a secret that is told by nobody": (
        PCM.replace("a.raw", "'wss://u:hunter2@host/{track_id}?token=hunter2'") + "    mix: true\n",
        [("10:18", "{track_id} is of one participant")],
    ),
    "several at once": (
        JOB.replace("url:", "ulr:") + "    duration: soon\n    names: perhaps\n  b: {destination: b.mkv}\n",
        [("3:5", "`url`?"), ("10:15", "30s"), ("11:12", "true or false"), ("12:3", "is missing"), ("12:7", "`destinations`?")],
    ),
}


def run(*arguments, keys=True):
    environment = ("env", "-i", "PATH=/usr/bin:/bin", *(("KEY=devkey", "SECRET=secret") if keys else ()))
    return subprocess.run(
        [*environment, *map(str, mediabridge("run", *arguments))], cwd=ROOT, capture_output=True, text=True, timeout=120,
        check=False,
    )


def test_what_is_wrong_is_said_by_line_and_column(tmp_path):
    assert len(BROKEN) >= 40
    files = {}
    for number, (text, expected) in enumerate(BROKEN.values()):
        files[tmp_path / f"{number}.yaml"] = expected
        (tmp_path / f"{number}.yaml").write_text(text)
    done = run("--check", *files)
    assert done.returncode == 1
    said = {file: [] for file in files}
    for line in done.stderr.splitlines():
        file = next((file for file in files if line.startswith(f"{file}:")), None)
        assert file, f"of no file: {line}"
        said[file].append(line.removeprefix(f"{file}:"))
    others = {
        name: lines
        for (name, (_, expected)), lines in zip(BROKEN.items(), said.values())
        if len(lines) != len(expected)
        or not all(line.startswith(place) and words in line for (place, words), line in zip(expected, lines))
    }
    assert not others, f"says something else: {json.dumps(others, indent=1)}"
    assert done.stdout == "", "one is taken for whole"
    assert "hunter2" not in done.stderr and "eyJhbGci" not in done.stderr


def test_a_whole_file_is_checked_and_shown_without_a_room(tmp_path):
    file = tmp_path / "room.yaml"
    file.write_text(
        JOB + "  b:\n    composite: grid\n    size: 640x360\n    video-bitrate: 3000\n"
        "    destinations: [b.mp4, 'rtmp://host/app/key-of-mine', 'srt://h:1?passphrase=key-of#mine']\n"
        "  c:\n    kind: frames\n    participant: [guest-*, bob]\n    each: true\n    framed: true\n    format: rgb24\n"
        "    size: 320x180\n    fps: 5\n    destination: unix:c.sock\n"
        "  d: {kind: frames, composite: grid, exec: cat}\n"
        "  e: {kind: pcm, mix: true, rate: 16000, destination: 'ws://host/x?key=${env:KEY}'}\n"
        "  f: {each: participant, participant: bob, destinations: '{publisher_identity}.mkv'}\n"
        "  g: {kind: pcm, mix: true, participant: bob, destination: g.wav}\n"
        "  i: {video-only: true, destinations: i.mkv}\n"
        "  h: {manifest: true, on-complete: 'up \"$1\"', destinations: 'udp://h:1'}\n"
    )
    done = run("--check", file)
    assert (done.returncode, done.stdout) == (0, f"{file}: 1 room, 9 jobs\n"), done.stderr
    done = run("--dry-run", "--json", file)
    assert done.returncode == 0, done.stderr
    shown = {(event["job"], event["file"]): event for event in map(json.loads, done.stdout.splitlines())}
    assert shown["a", "a.mkv"]["feeds"][0] == "VP8 is as sent: output/mkv takes VP8"
    mixed = shown["b", "b.mp4"]
    assert set(mixed["pipelines"]) >= {"mix/video", "mix/audio", "encode/h264", "encode/aac", "output/mp4"}
    assert "bitrate=3000" in mixed["pipelines"]["encode/h264"]
    assert "width=640,height=360" in mixed["pipelines"]["mix/video"]
    assert "location={publisher_identity}.mkv" in shown["f", "{publisher_identity}.mkv"]["pipelines"]["output/mkv"]
    assert "key-of" not in done.stdout
    shown_frames = shown["c", "unix:c.sock"]
    what = "it gets the video of guest-* or bob as rgb24 of 320x180, 5 frames a second, of each for themselves"
    assert shown_frames["feeds"] == [what]
    assert shown["d", "cat"]["feeds"] == ["it gets the room mixed as grid as i420"]
    assert set(shown["d", "cat"]["pipelines"]) == {"mix/video", "tile/video", "process/placeholder"}
    assert shown["e", "ws://host/x"]["feeds"] == ["it gets the audio of everybody, mixed as s16le, 16000 Hz, 1 channel"]
    assert shown["g", "g.wav"]["feeds"] == ["it gets the audio of bob, mixed as wav, 48000 Hz, 1 channel"]
    assert not (tmp_path / "a.mkv").exists() and not (ROOT / "a.mkv").exists()


def test_what_is_for_files_alone_is_said_to_change_nothing(tmp_path):
    file = tmp_path / "room.yaml"
    file.write_text(JOB.replace("a.mkv", "'udp://127.0.0.1:9'") + "    manifest: true\n")
    done = run("--json", file)
    told = [event for event in map(json.loads, done.stdout.splitlines()) if event["event"] == "without_effect"]
    assert [(event["job"], event["variables"]) for event in told] == [("a", ["manifest"])], done.stdout
    assert "nothing answers at 127.0.0.1:9" in done.stderr, "it did not go on"


def tables(schema):
    """What rooms and jobs of each kind may have, by the schema."""
    jobs = schema["properties"]["jobs"]["additionalProperties"]
    return {
        "rooms": schema["properties"]["rooms"]["additionalProperties"], "frames": jobs["then"],
        "pcm": jobs["else"]["then"], "record": jobs["else"]["else"],
    }


@pytest.fixture(scope="module")
def schema():
    return json.loads(run("--schema").stdout)


@pytest.mark.parametrize("kind", ["rooms", "record", "frames", "pcm"])
def test_the_schema_has_the_keys_that_are_read(schema, kind, tmp_path):
    """All of them, as a file in which each has a value that none takes."""
    table = tables(schema)[kind]
    wrong = {key: [[]] for key in table["properties"] if key != "kind"}
    whole = {"rooms": wrong} if kind == "rooms" else {"jobs": {"x": {**wrong, "kind": kind}}}
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps({"rooms": {"x": {}}, "jobs": {}, **({"rooms": {"x": wrong}} if kind == "rooms" else whole)}))
    said = [json.loads(line)["message"] for line in run("--check", "--json", file).stdout.splitlines()]
    refused = [match[1] for message in said if (match := re.match("`([a-z-]+)` takes", message))]
    assert sorted(refused) == sorted(wrong), said
    assert not table["additionalProperties"] and all(key["description"] for key in table["properties"].values())


def test_the_schema_takes_and_refuses_what_is_read(schema):
    """As an editor's validator sees it: the example, and files with one mistake each."""
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    example = yaml.safe_load((ROOT / "Examples/room.yaml").read_text())
    assert [error.message for error in validator.iter_errors(example)] == []
    assert {job.get("kind", "record") for job in example["jobs"].values()} == {"record", "frames", "pcm"}
    seen = [
        "a list", "no jobs", "no rooms", "empty jobs", "unknown at the top", "unknown in a room", "unknown in a job",
        "unknown and like nothing", "a room that is a text", "secret in the file", "token in the file", "attempts",
        "no destinations", "empty destinations", "unknown in a destination", "a destination of nothing", "a time",
        "a list for a time", "a size in bytes", "a size of frames", "a flag", "nothing", "a choice", "a source",
        "values that are a list", "labels of another name", "drawings", "a kind", "frames that go nowhere",
        "destinations of frames", "a key of another kind", "audio of frames", "a format", "a size of all frames",
        "channels", "a source of the other kind", "labels of audio", "several at once",
    ]
    taken = [name for name in seen if validator.is_valid(yaml.safe_load(BROKEN[name][0]))]
    assert not taken, f"the schema takes {taken}"
    assert validator.is_valid(yaml.safe_load(JOB)) and validator.is_valid(yaml.safe_load(FRAMES))
    assert validator.is_valid(yaml.safe_load(PCM + "    participant: [alice, guest-*]\n    mix: true\ndot: drawings\n"))


def test_the_example_is_whole():
    keys = ("LIVEKIT_API_KEY=devkey", "LIVEKIT_API_SECRET=secret", "STREAM_KEY=key")
    done = subprocess.run(
        ["env", *keys, *map(str, mediabridge("run", "--check", "Examples/room.yaml"))], cwd=ROOT, capture_output=True,
        text=True, timeout=60, check=False,
    )
    assert done.stdout == "Examples/room.yaml: 1 room, 5 jobs\n", done.stderr
