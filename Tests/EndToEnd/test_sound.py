"""What `mediabridge publish` takes of PulseAudio: a microphone, what is heard, and the one without the other."""

import subprocess
import wave

import numpy as np
import pytest
from desktop import Desktop
from live_server import wait_until
from programs import ROOT
from publishing import publish


# As desktops run what has to do with sound.
PRIORITY = ("chrt", "--rr", "5")


@pytest.fixture
def sound_server(start, tmp_path):
    """PulseAudio with a loudspeaker that is none, whose monitor is the microphone; NAME=VALUE for who uses it."""
    place = tmp_path / "pulse"
    place.mkdir()
    environment = (f"HOME={place}", f"XDG_RUNTIME_DIR={place}", f"PULSE_SERVER=unix:{place}/socket")
    socket_module = f"module-native-protocol-unix socket={place}/socket auth-anonymous=1"
    options = ("-n", "--daemonize=no", "--exit-idle-time=-1", "-L", "module-null-sink", "-L", socket_module)
    start(("env", *environment, *PRIORITY, "pulseaudio", *options))
    wait_until("the sound server listens", (place / "socket").exists)
    return environment


def test_a_microphone_of_a_sound_server(server, start, sound_server):
    tone = "sine=frequency=1000:sample_rate=48000,volume=4"
    start(("env", *sound_server, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", tone, "-f", "pulse", "tone"))
    publisher = publish(server, start, "microphone", room="test", environment=sound_server)
    assert [track["source"] for track in publisher.wait_for("publishing", 20)["tracks"]] == ["microphone"]
    subscriber = server.subscriber("--duration", "4")
    subscriber.wait_for("connected", 20)
    seen = subscriber.next(30, "what was seen")
    assert seen["tracks"] == [["alice", "audio/red"]] and seen["level"] > 1000, seen


def test_a_screen_with_what_is_heard(server, start, sound_server):
    tone = "sine=frequency=1000:sample_rate=48000,volume=4"
    start(("env", *sound_server, "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", tone, "-f", "pulse", "tone"))
    with Desktop() as desktop:
        screen = f"screen={desktop.environment['DISPLAY']}"
        publisher = publish(server, start, screen, "screen-audio", room="test", environment=sound_server)
        told = publisher.wait_for("publishing", 20)["tracks"]
        assert [track["source"] for track in told] == ["screen_share", "screen_share_audio"]
        subscriber = server.subscriber("--duration", "4")
        subscriber.wait_for("connected", 20)
        seen = subscriber.next(30, "what was seen")
    assert sorted(seen["sources"]) == ["SCREENSHARE", "SCREENSHARE_AUDIO"], seen
    assert seen["level"] > 1000 and seen["frames"] > 10, seen


@pytest.mark.parametrize(
    ("source", "said"),
    [("microphone", "microphone: no microphone can be opened"), ("screen-audio", "screen-audio: what is heard cannot be captured")],
)
def test_sound_without_a_sound_server_is_told(server, start, source, said):
    publisher = publish(server, start, source, environment=("PULSE_SERVER=unix:/nowhere",))
    assert publisher.finish(20) != 0
    assert said in publisher.errors, publisher.errors


MICROPHONE = "pulsesrc device=${device:-@DEFAULT_SOURCE@} buffer-time=${device-buffer:-200000} latency-time=${device-period:-10000}\n"
WHISTLE = 0.1


def templates(folder):
    """Capture texts made of the shipped one: the microphone is 30 ms away from the loudspeaker, with (`cancelled`) and without
    cancellation (`plain`), or far from it and beside somebody who whistles (`whistle`)."""
    (folder / "capture").mkdir(parents=True)
    text = (ROOT / "pipelines/capture/microphone-without-echo.pipeline").read_text()
    assert MICROPHONE in text and "echo-cancel=true" in text
    away = text.replace(MICROPHONE, f"{MICROPHONE}! queue min-threshold-time=30000000\n")
    whistle = f"audiotestsrc is-live=true samplesperbuffer=480 freq=1500 volume={WHISTLE}\n"
    texts = {"cancelled": away, "plain": away.replace("echo-cancel=true", "echo-cancel=false")}
    for name, text in (texts | {"whistle": text.replace(MICROPHONE, whistle)}).items():
        (folder / f"capture/microphone-{name}.pipeline").write_text(text)
    return folder


def loudness(file):
    """From the fifth second on, as its effective value, 0...1."""
    with wave.open(str(file)) as sound:
        assert sound.getsampwidth() == 2
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(float) / 32768
        return np.sqrt((samples[5 * sound.getframerate() * sound.getnchannels() :] ** 2).mean())


@pytest.mark.realtime
def test_a_microphone_without_the_echo_of_what_is_played(server, start, sound_server, tmp_path):
    speech, sources = tmp_path / "speech.wav", ("plain", "cancelled", "whistle")
    words = "The quick brown fox jumps over the lazy dog, and the fishermen go out to sea again. " * 4
    subprocess.run(["espeak-ng", "-a", "60", "-w", speech, words], check=True)
    options = ("--pipelines", templates(tmp_path / "pipelines"), "--set", "dtx=false", "--set", "gain=false")
    for name in sources:
        # Whoever whistles is steady as noise is.
        own = ("--set", f"noise={'false' if name == 'whistle' else 'true'}")
        publisher = publish(
            server, start, f"microphone-{name}", *options, *own, room="test", identity=name,
            environment=(*sound_server, *PRIORITY),
        )
        publisher.wait_for("publishing", 20)
    files = {name: tmp_path / f"{name}.wav" for name in sources}
    recorders = [server.recorder("test", name, file, "--duration", "13s") for name, file in files.items()]
    for recorder in recorders:
        recorder.wait_for("recording", 20)
    start(("env", *sound_server, *PRIORITY, "ffmpeg", "-v", "error", "-re", "-i", str(speech), "-f", "pulse", "speech"))
    for recorder in recorders:
        recorder.wait_for("finished", 30)
    echo, rest, whistle = (loudness(files[name]) for name in sources)
    assert 20 * np.log10(echo / rest) > 15, (echo, rest)
    assert whistle > 0.5 * WHISTLE / np.sqrt(2), (whistle, echo)
