"""Recordings over networks that let only some of it pass."""

import re
import signal
import subprocess
import time

import checks
import clip
import livekit_server
import pytest
from failures import after, assert_failed, assert_plays, chosen_pairs, said
from network import STUN, reset
from programs import KEYS, Program, mediabridge, python

TURN_USER, TURN_PASSWORD = "recorder", "turn-password-4711"


def signed_relay(network, folder):
    """A certificate that signs itself, beside its key `relay.key`."""
    made = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=relay")
    names = ("-addext", f"subjectAltName=DNS:{network.RELAY_NAME}", "-keyout", folder / "relay.key")
    subprocess.run((*made, *names, "-out", folder / "relay.pem"), check=True, capture_output=True)
    return folder / "relay.pem"


class Relay:
    """coturn on the router, plain and by TLS, with a certificate for its name that signs itself."""

    def __init__(self, network, folder):
        self.log = folder / "turn.log"
        self.certificate = signed_relay(network, folder)
        self.program = Program(
            network.router(
                *("turnserver", "-n", "--lt-cred-mech", "--user", f"{TURN_USER}:{TURN_PASSWORD}", "--realm", "test"),
                *("--listening-ip", network.CLIENT_SIDE, "--relay-ip", network.SERVER_SIDE, "--no-dtls"),
                *("--cert", self.certificate, "--pkey", folder / "relay.key"),
                *("--no-cli", "--verbose", "--simple-log", "--log-file", self.log, "--pidfile", folder / "turn.pid"),
                *("--userdb", folder / "turn.db"),
            )
        )
        deadline = time.monotonic() + 10
        probe = network.client("bash", "-c", f"exec 3<>/dev/tcp/{network.CLIENT_SIDE}/3478")
        while subprocess.run(probe, capture_output=True, check=False).returncode != 0:
            assert time.monotonic() < deadline, self.program.report("coturn does not listen")
            time.sleep(0.1)

    def bytes_relayed(self):
        """What coturn counted for its sessions."""
        return sum(int(count) for count in re.findall(r"usage:.*?, rb=\d+, sp=\d+, sb=(\d+)", self.log.read_text()))


@pytest.fixture
def relay(routed, tmp_path):
    relay = Relay(routed, tmp_path)
    yield relay
    relay.program.stop()


def only_signalling(server):
    return f"policy drop; tcp dport {server.port} accept; tcp sport {server.port} accept;"


def assert_relayed(recorder):
    """It has recorded through the relay alone, and tells nobody the password."""
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    pairs = chosen_pairs(recorder)
    assert pairs and all(" relay to " in pair for pair in pairs), recorder.report(f"{pairs}")
    # ps and /proc show the command line; logs go to files.
    assert TURN_PASSWORD not in recorder.errors


@pytest.mark.parametrize(("transport", "host"), [("udp", "name"), ("udp", "address"), ("tcp", "address")])
def test_turn(routed, relay, distant_server, tmp_path, transport, host):
    url = f"turn:{routed.CLIENT_SIDE if host == 'address' else routed.RELAY_NAME}:3478?transport={transport}"
    server = distant_server(
        "--ice-server", url, "--ice-username", TURN_USER, "--ice-credential", TURN_PASSWORD
    )
    routed.drop(
        forward=only_signalling(server), to_router='iifname "client" meta l4proto udp drop;' if transport == "tcp" else ""
    )
    server.own_publisher("turn", "alice", "h264")
    file = tmp_path / "turn.mp4"
    recorder = server.recorder("turn", "alice", file, "--duration", "5s", "--verbose")
    assert_relayed(recorder)
    assert_plays(file, 4.5)


ONLY_TLS = 'iifname "client" tcp dport 5349 accept; iifname "client" drop;'


def test_turn_over_tls(routed, relay, distant_server, monkeypatch, tmp_path):
    """Nothing else gets out of many offices; a relay proves who it is as the server does."""
    url = f"turns:{routed.RELAY_NAME}:5349?transport=tcp"
    server = distant_server("--ice-server", url, "--ice-username", TURN_USER, "--ice-credential", TURN_PASSWORD)
    routed.drop(forward=only_signalling(server), to_router=ONLY_TLS)
    server.own_publisher("turn", "alice", "h264")
    refused = server.recorder("turn", "alice", tmp_path / "x.mp4")
    line = assert_failed(refused, "no relay address from", url, "self-signed", "SSL_CERT_FILE", within=30)
    assert TURN_PASSWORD not in line
    monkeypatch.setenv("SSL_CERT_FILE", str(relay.certificate))
    file = tmp_path / "turn.mp4"
    recorder = server.recorder("turn", "alice", file, "--duration", "5s", "--verbose")
    assert_relayed(recorder)
    assert_plays(file, 4.5)


def test_the_relay_of_livekits_server(routed, distant_server, monkeypatch, tmp_path):
    """It names its own, at the port of HTTPS, and lets nobody reach private addresses unless told to."""
    if not livekit_server.BINARY:
        pytest.skip("the development server has no relay")
    certificate = signed_relay(routed, tmp_path)
    turn = {"enabled": True, "domain": routed.RELAY_NAME, "tls_port": 443, "allow_restricted_peer_cidrs": ["10.0.0.0/8"]}
    turn |= {"cert_file": str(certificate), "key_file": str(tmp_path / "relay.key")}
    plain = livekit_server.configuration
    monkeypatch.setattr(livekit_server, "configuration", lambda *at: plain(*at) | {"turn": turn})
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    routed.move_relay(routed.SERVER)
    server = distant_server()
    ports = f"{{ 443, {server.port} }}"
    routed.drop(forward=f"policy drop; tcp dport {ports} accept; tcp sport {ports} accept;")
    server.own_publisher("turn", "alice", "h264")
    file = tmp_path / "turn.mp4"
    assert_relayed(server.recorder("turn", "alice", file, "--duration", "5s", "--verbose"))
    assert_plays(file, 4.5)


@pytest.mark.parametrize("scheme", ["turn", "turns"])
def test_a_session_that_is_resumed_finds_its_relay_again(routed, relay, distant_server, monkeypatch, tmp_path, scheme):
    """ICE is restarted then, and gathers anew."""
    monkeypatch.setenv("SSL_CERT_FILE", str(relay.certificate))
    url = f"turns:{routed.RELAY_NAME}:5349" if scheme == "turns" else f"turn:{routed.CLIENT_SIDE}:3478"
    server = distant_server("--ice-server", url, "--ice-username", TURN_USER, "--ice-credential", TURN_PASSWORD)
    routed.drop(forward=only_signalling(server))
    server.own_publisher("turn", "alice", "h264")
    file = tmp_path / "turn.mkv"
    recorder = server.recorder("turn", "alice", file, "--verbose")
    after(recorder, 2)
    routed.drop(forward=f"policy drop; {reset(server)}")
    recorder.wait_for("reconnecting", 25)
    routed.drop(forward=only_signalling(server))
    assert recorder.wait_for("reconnected", 40)["mode"] == "quick"
    told = recorder.wait_for("progress")
    after(recorder, told["duration"] + 4)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    pairs = chosen_pairs(recorder)
    assert len(pairs) >= 2 and all(" relay to " in pair for pair in pairs), recorder.report(f"{pairs}")
    times = [time for _, time, _ in checks.numbered(file)]
    assert times[-1] - told["duration"] > 2, "no frames came again"


@pytest.mark.parametrize("relay_only", [False, True])
def test_own_servers_are_used_in_place_of_the_servers(routed, relay, distant_server, tmp_path, relay_only):
    """With relays only also where there is a direct way."""
    server = distant_server("--ice-server", f"turn:{routed.CLIENT_SIDE}:1", "--ice-username", "x", "--ice-credential", "x")
    own = ("--ice-server", f"turn:{routed.CLIENT_SIDE}:3478", "--ice-username", TURN_USER, "--ice-credential", TURN_PASSWORD)
    if not relay_only:
        routed.drop(forward=only_signalling(server))
    server.own_publisher("turn", "alice", "h264")
    file, only = tmp_path / "turn.mp4", ("--relay-only",) if relay_only else ()
    recorder = server.recorder("turn", "alice", file, "--duration", "3s", "--verbose", *own, *only)
    assert_relayed(recorder)
    assert_plays(file, 2.5)


def test_a_relay_that_refuses_is_named(routed, relay, distant_server, tmp_path):
    url = f"turn:{routed.CLIENT_SIDE}:3478"
    server = distant_server("--ice-server", url, "--ice-username", TURN_USER, "--ice-credential", "wrong")
    routed.drop(forward=only_signalling(server))
    recorder = server.recorder("turn", "alice", tmp_path / "x.mp4")
    assert_failed(recorder, "no relay address from", url, within=30)


def test_a_stun_server_that_nobody_knows_is_done_without(distant_server, tmp_path):
    """LiveKit's server names public ones unless it is told of others, also where no name can be looked up."""
    server = distant_server("--ice-server", "stun:no.such.host.invalid:3478")
    server.own_publisher("stun", "alice", "h264")
    recorder = server.recorder("stun", "alice", tmp_path / "stun.mkv", "--verbose")
    recorder.wait_for_error("Can't resolve STUN server")
    after(recorder, 1)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert said(recorder.errors) == [], "more than log lines"


def test_tcp_candidates_of_the_server(routed, distant_server, tmp_path):
    """Where UDP is dropped and there is no relay, the server's TCP port is left (RFC 6544)."""
    server = distant_server()
    routed.drop(forward="meta l4proto udp drop;")
    server.own_publisher("tcp", "alice", "h264")
    file = tmp_path / "tcp.mp4"
    recorder = server.recorder("tcp", "alice", file, "--duration", "5s", "--verbose")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_plays(file, 4.5)
    pairs = chosen_pairs(recorder)
    assert pairs and all(pair.startswith("tcp") for pair in pairs), recorder.report(f"{pairs}")


def test_a_tunnel_to_the_server_on_this_machine(start, routed, distant_server, tmp_path):
    """As `ssh -L` and sidecars make one: signalling is on loopback, and media is not."""
    server = distant_server()
    server.own_publisher("tunnel", "alice", "h264")
    proxy = start(routed.client(*python("signal_proxy.py", "--to", server.url)))
    server.url = f"ws://127.0.0.1:{proxy.wait_for('listening')['port']}"
    file = tmp_path / "tunnel.mp4"
    recorder = server.recorder("tunnel", "alice", file, "--duration", "3s")
    recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert_plays(file, 2.5)


def test_media_that_cannot_connect(routed, distant_server, tmp_path):
    server = distant_server()
    routed.drop(forward=only_signalling(server))
    file = tmp_path / "x.mp4"
    begun = time.monotonic()
    recorder = server.recorder("none", "alice", file)
    line = assert_failed(recorder, "UDP", "TURN", "udp 10.77.1.2", "udp 10.77.2.2", "host", within=25)
    assert 10 < time.monotonic() - begun < 20, line
    assert not file.exists()


@pytest.mark.parametrize(
    ("protocol", "name", "words", "within"),
    [
        ("udp", "cut.mp4", ["media connection was lost", "10.77.2.2"], 30),
        ("tcp", "cut.mkv", ["connection", "answer"], 45),
    ],
    ids=["media", "signalling"],
)
def test_cut_while_recording(routed, distant_server, tmp_path, protocol, name, words, within):
    server = distant_server()
    server.own_publisher("cut", "alice", "h264")
    file = tmp_path / name
    # How it comes back is for the tests of reconnection.
    recorder = server.recorder("cut", "alice", file, "--reconnect-attempts", "0")
    after(recorder, 4)
    routed.drop(forward=f"meta l4proto {protocol} drop;")
    assert_failed(recorder, name, *words, within=within)
    assert_plays(file, 4)


def test_recording_ends_before_anybody_notices_the_cut(routed, distant_server, tmp_path):
    """As when a cable is pulled and somebody stops it: the file plays, and is not all that was to be recorded."""
    server = distant_server()
    server.own_publisher("cut", "alice", "h264")
    file = tmp_path / "cut.mkv"
    recorder = server.recorder("cut", "alice", file)
    after(recorder, 4)
    routed.drop(forward="policy drop;")
    after(recorder, 9)
    recorder.stop()
    line = assert_failed(recorder, file.name, "the last", "of alice", "connection to the room was lost", within=30)
    assert not [event for event in recorder.events if event["event"] == "reconnecting"]
    assert 3 <= float(re.search(r"the last ([\d.]+) s of alice", line)[1]) <= 7, line
    assert_plays(file, 8)


@pytest.mark.parametrize("is_resumed", [False, True], ids=["connected", "resumed"])
def test_whoever_sends_nothing_is_no_loss_of_the_connection(routed, distant_server, tmp_path, is_resumed):
    """The server answers, and nobody has been muted: an agent that has nothing to say, or a browser in the background.
    Also where only the signalling was lost meanwhile."""
    server = distant_server()
    publisher = server.own_publisher("silent", "alice", "h264")
    file = tmp_path / "silent.mkv"
    recorder = server.recorder("silent", "alice", file)
    after(recorder, 4)
    publisher.send(signal.SIGSTOP)
    after(recorder, 9)
    if is_resumed:
        routed.drop(forward=reset(server))
        recorder.wait_for("reconnecting", 25)
        routed.open()
        assert recorder.wait_for("reconnected", 20)["mode"] == "quick"
    recorder.stop()
    try:
        recorder.wait_for("finished", 20)
        assert recorder.finish() == 0, recorder.report("failed")
    finally:
        publisher.send(signal.SIGCONT)
    assert_plays(file, 8)


@pytest.mark.realtime
@pytest.mark.parametrize("codec", ["VP9", "AV1"])
def test_what_is_lost_comes_again(routed, distant_server, tmp_path, codec):
    """One in twenty packets on the way to the recorder."""
    server = distant_server()
    server.foreign_publisher("--room", "loss", "--codec", codec)
    routed.drop(forward='iifname "server" meta l4proto udp numgen random mod 100 < 5 drop;')
    file = tmp_path / "loss.mkv"
    recorder = server.recorder("loss", "alice", file, "--duration", "8s")
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    assert sum(track["packets"] for track in told["tracks"]) > 300
    numbers = [number for number, _, _ in checks.numbered(file, clip.SIZE)]
    assert None not in numbers and numbers == sorted(numbers), f"damaged, or out of order: {numbers}"
    assert len(set(numbers)) > 0.85 * 8 * 25, f"{len(set(numbers))} frames: {numbers}"
    assert checks.decode_errors(file) == []


def test_audio_that_is_lost_comes_again(start, routed, distant_server, tmp_path):
    """Also where no packet repeats the one before."""
    server = distant_server()
    command = mediabridge("publish", "--url", server.url, *KEYS, "--room", "loss", "--identity", "alice", "--json")
    start(server.enter(*command, "tone", "--no-red")).wait_for("publishing", 20)
    routed.drop(forward='iifname "server" meta l4proto udp numgen random mod 100 < 10 drop;')
    file = tmp_path / "loss.wav"
    recorder = server.recorder("loss", "alice", file, "--duration", "8s")
    told = recorder.wait_for("finished", 40)
    assert recorder.finish() == 0, recorder.report("failed")
    (track,) = told["tracks"]
    assert track["packets"] > 7 * 50 and track["lost"] < 0.02 * track["packets"], track
    assert checks.length(file) > 7.9 and checks.decode_errors(file) == []


def test_media_that_comes_is_consent(routed, distant_server, tmp_path):
    """Where checks of the path get lost and media does not, nothing is given up (RFC 7675 allows 30 s)."""
    server = distant_server()
    server.own_publisher("stun", "alice", "h264")
    file = tmp_path / "stun.mkv"
    recorder = server.recorder("stun", "alice", file)
    after(recorder, 2)
    routed.drop(forward=f"{STUN} drop;")
    after(recorder, 17)
    recorder.stop()
    assert recorder.finish() == 0, recorder.report("failed")
    assert not [event for event in recorder.events if event["event"] == "reconnecting"]
    assert_plays(file, 16)
