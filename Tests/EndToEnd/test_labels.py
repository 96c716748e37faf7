"""Labels on a mixed room are seen in their place, and gone when they are taken away."""

import itertools
import json
import shutil

import checks
import numpy as np
import pytest
from failures import after
from programs import KEYS, ROOT, mediabridge
from raw import Reader, of

# Two side by side. Who has no camera, the right one, has a plain tile, with initials in its middle and a name below.
BELOW = (slice(520, 715), slice(645, 900))
TOP_OF_RIGHT = (slice(4, 60), slice(700, 1220))
BETWEEN = (slice(200, 280), slice(650, 1270))
HOSTILE = "<b>&\"'</span>\u202eabc\u0000\r\n\n\t" + "e\u0301\u0301\u0301\u0301\u0301\u0301" * 300 + "\n" * 900 + "漢字" * 500


def writing(luma):
    """Whether there is something white."""
    return bool(np.count_nonzero(luma > 200) > 60)


def runs(flags):
    return [flag for flag, _ in itertools.groupby(flags)]


def wait_for_label(recorder, text, **more):
    """Until it is told of."""
    while recorder.wait_for("label") != {"event": "label", "text": text, **more}:
        pass


def go_on(recorder):
    after(recorder, recorder.wait_for_new("progress")["duration"] + 1.2)


@pytest.mark.realtime
def test_labels_of_a_recording(server, tmp_path):
    """By the room's messages and by --control, of the whole frame and of one participant, whatever their text is."""
    publisher = server.foreign_publisher("--room", "told", "--identity", "alice", "--duration", 120)
    server.foreign_publisher("--room", "told", "--identity", "bob", "--no-video", "--duration", 120)
    file = tmp_path / "told.mp4"
    recorder = server.recorder(
        "told", None, file, "--composite", "grid", "--placeholders", "--label-topic", "chat", "--control", "-"
    )
    recorder.wait_for("recording")
    go_on(recorder)
    publisher.write("message:good morning")
    wait_for_label(recorder, "good morning")
    on_bob = {"text": "says nothing", "participant": "bob"}
    publisher.write(f"message:{json.dumps(on_bob)}")
    wait_for_label(recorder, **on_bob)
    go_on(recorder)
    for wrong, reason in (
        ({"text": 1}, '"text" is to be a string'),
        ({"text": "a", "participant": "nobody"}, "nobody who is mixed is called 'nobody'"),
        ({"text": "a", "duration": True}, "a number of seconds"),
    ):
        publisher.write(f"message:{json.dumps(wrong)}")
        assert reason in recorder.wait_for("label_refused")["message"], recorder.report("says something else")
    recorder.write('{"command": "label", "text": ""}', '{"command": "label", "text": "", "participant": "bob"}')
    wait_for_label(recorder, "", participant="bob")
    go_on(recorder)
    recorder.write(json.dumps({"command": "label", "text": HOSTILE, "duration": 1}))
    wait_for_label(recorder, HOSTILE)
    recorder.write(json.dumps({"command": "label", "text": HOSTILE, "participant": "bob", "duration": 1}))
    wait_for_label(recorder, "", participant="bob")
    go_on(recorder)
    recorder.write('{"command": "end"}')
    assert recorder.finish() == 0, recorder.report("failed")
    assert checks.decode_errors(file) == [] and checks.sizes(file) == {(1280, 720)}
    frames = [luma.copy() for _, luma in checks.frames(file)]
    for name, place in {"below": BELOW, "on the right tile": TOP_OF_RIGHT}.items():
        assert runs(writing(luma[place]) for luma in frames) == [False, True, False, True, False], name
    assert not any(writing(luma[BETWEEN]) for luma in frames), "a long text covers more than its place"


def test_what_a_command_prints_is_a_label_of_its_frames(server, tmp_path):
    server.foreign_publisher("--duration", 60)
    server.foreign_publisher("--identity", "bob", "--no-video", "--duration", 60)
    file = tmp_path / "frames.raw"
    says = """echo loading; echo '{"text": "a label", "duration": 2}'"""
    reader = Reader(
        server, "frames", "--composite", "grid", "--placeholders", "--size", "1280x720", "--fps", 5, "--format", "gray8",
        "--reply", "label", "--exec", f"(sleep 1; {says}) & cat > {file}", "--duration", "6s",
    )
    told = [json.loads(line) for line in reader.process.stdout]
    assert reader.finish() == 0, (reader.said, told)
    assert of("replies", told)[0] == {"event": "replies", "sent": 1, "refused": 1, "dropped": 0}
    frames = np.fromfile(file, np.uint8).reshape(-1, 720, 1280)
    assert runs(writing(luma[BELOW]) for luma in frames) == [False, True, False]


def test_a_template_without_labels_is_said_at_once(local_server, start, tmp_path):
    folder = tmp_path / "pipelines"
    shutil.copytree(ROOT / "pipelines", folder)
    template = folder / "mix" / "video.pipeline"
    template.write_text(template.read_text().replace("name=caption", "name=subtitle"))
    command = mediabridge("record", "--url", local_server.url, *KEYS, "--room", "r", "--pipelines", folder)
    recorder = start((*command, "--composite", "grid", "--label-topic", "chat", "--json", tmp_path / "a.mp4"))
    assert recorder.finish() == 64
    said = recorder.wait_for("failed")["message"]
    assert "mix/video.pipeline cannot show labels" in said and "called caption" in said
