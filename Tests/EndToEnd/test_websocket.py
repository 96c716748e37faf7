"""`mediabridge pcm ws://…`: audio for WebSocket servers, as LiveKit's track egress sends it."""

import subprocess

import numpy as np
import pytest
from programs import python
from raw import Reader
from test_pcm import RATE, beeps, wait_until


class Taker:
    """A WebSocket server that we did not write."""

    def __init__(self, start, server, file, *options, scheme="ws", port=8765):
        self.file = file
        command = python("take_audio.py", "--port", port, "--file", file, *options)
        self._begin = lambda: start(server.enter(*command))
        self.url = f"{scheme}://127.0.0.1:{port}/alice?key=secret"
        self.again()

    def again(self):
        self.program = self._begin()
        self.program.wait_for("listening")

    @property
    def samples(self):
        return np.frombuffer(self.file.read_bytes(), "<i2").reshape(-1, 2)


def test_a_websocket_takes_it_as_track_egress_sends_it(start, server, tmp_path):
    publisher = server.foreign_publisher("--no-video")
    taker = Taker(start, server, tmp_path / "a.pcm")
    reader = Reader(server, "pcm", "--channels", 2, "--duration", "6s", taker.url)
    for seconds, action in ((1, "mute"), (3, "unmute")):
        wait_until(f"{seconds} s are there", lambda: taker.file.exists() and len(taker.samples) > seconds * RATE)
        publisher.write(action)
    reader.all()
    connected = taker.program.wait_for("connected")
    assert (connected["path"], connected["type"]) == ("/alice?key=secret", "audio/x-raw")
    told = [taker.program.wait_for("text") for _ in range(2)]
    assert [event["message"] for event in told] == [{"muted": True}, {"muted": False}]
    assert taker.program.wait_for("closed")["code"] == 1000
    assert len(taker.samples) == 6 * RATE
    muted, unmuted = (event["at"] / 4 / RATE for event in told)
    assert 1 < muted < 3 <= unmuted < 6
    # Those that neither of both cut.
    starts = [start for start, end in beeps(taker.samples[:, 0])[1:] if end - start > 0.08]
    places = np.array(starts) - starts[0]
    assert np.abs(places - places.round()).max() < 0.04


def test_a_websocket_server_that_is_slow_gets_all(start, server, tmp_path):
    """It stands still for some seconds: more waits than sockets hold."""
    server.foreign_publisher("--no-video", "--tone")
    taker = Taker(start, server, tmp_path / "a.pcm", "--stall", 3)
    form = ("--format", "f32le", "--rate", 96_000, "--channels", 8, "--duration", "6s")
    Reader(server, "pcm", *form, taker.url).all()
    samples = np.frombuffer(taker.file.read_bytes(), "<f4").reshape(-1, 8)
    assert len(samples) == 6 * 96_000
    heard = np.flatnonzero(np.abs(samples[:, 0]) > 0.01)
    assert np.diff(heard[heard > 96_000]).max() < 2 * 96_000, "silence stands for nothing"


@pytest.fixture
def certificate(tmp_path):
    """Of this machine, signed by itself, with its key in the same file."""
    file, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test")
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file)
    subprocess.run((*made, *names), check=True, capture_output=True)
    file.write_text(file.read_text() + key.read_text())
    return file


def test_a_websocket_server_has_to_prove_who_it_is(start, server, certificate, monkeypatch, tmp_path):
    server.foreign_publisher("--no-video", "--tone")
    taker = Taker(start, server, tmp_path / "a.pcm", "--certificate", certificate, scheme="wss")
    refused = Reader(server, "pcm", "--duration", "1s", taker.url)
    assert refused.finish() == 1
    assert "self-signed" in refused.said and "SSL_CERT_FILE" in refused.said and "secret" not in refused.said
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    Reader(server, "pcm", "--channels", 2, "--duration", "2s", taker.url).all()
    assert len(taker.samples) == 2 * RATE


def killed(start, server, folder, *options):
    """A server that is killed once a second is there, and what it was sent by."""
    server.foreign_publisher("--no-video", "--tone")
    taker = Taker(start, server, folder / "a.pcm")
    reader = Reader(server, "pcm", "--channels", 2, *options, taker.url)
    wait_until("a second is there", lambda: taker.file.exists() and len(taker.samples) > RATE)
    taker.program.kill()
    return taker, reader


def test_a_websocket_server_that_dies_is_tried_again(start, server, tmp_path):
    taker, reader = killed(start, server, tmp_path, "--duration", "8s")
    before = len(taker.samples)
    taker.again()
    said = reader.all().decode()
    assert "is tried again" in said and "is back" in said and "secret" not in said + reader.said
    # What waited is sent; what was on its way to who died is not.
    assert before < 7 * RATE < len(taker.samples) <= 8 * RATE


def test_a_websocket_server_that_stays_away_is_an_error(start, server, tmp_path):
    _, reader = killed(start, server, tmp_path, "--reconnect-for", "2s")
    assert reader.finish() == 1
    assert "nothing answers at 127.0.0.1:8765" in reader.said and "secret" not in reader.said


def test_a_websocket_server_that_is_not_there_is_an_error(server):
    server.foreign_publisher("--no-video")
    reader = Reader(server, "pcm", "ws://127.0.0.1:9/?key=secret")
    assert reader.finish() == 1
    assert "nothing answers at 127.0.0.1:9" in reader.said and "secret" not in reader.said


def test_what_a_server_does_not_take_is_an_error(start, server, tmp_path):
    """It reads nothing any more: more waits at the end than sockets hold."""
    server.foreign_publisher("--no-video", "--tone")
    taker = Taker(start, server, tmp_path / "a.pcm", "--stall", 60)
    form = ("--format", "f32le", "--rate", 192_000, "--channels", 8, "--duration", "3s")
    reader = Reader(server, "pcm", *form, taker.url)
    assert reader.finish() == 1
    assert "what waited at the end was not taken within 10" in reader.said
