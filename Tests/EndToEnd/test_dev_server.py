"""The development server at the addresses that it is asked to listen at."""

import subprocess
import uuid

import checks
import pytest
from programs import KEYS, mediabridge


@pytest.fixture
def lonely():
    """A network that has loopback alone."""
    name = f"mb-{uuid.uuid4().hex[:8]}"
    subprocess.run(("ip", "netns", "add", name), check=True)
    try:
        subprocess.run(("ip", "-n", name, "link", "set", "lo", "up"), check=True)
        yield lambda *arguments: ("ip", "netns", "exec", name, *map(str, arguments))
    finally:
        subprocess.run(("ip", "netns", "delete", name), check=False)


@pytest.mark.parametrize(
    ("host", "name"), [("localhost", "127.0.0.1"), ("localhost", "[::1]"), ("0.0.0.0", "127.0.0.1")]
)
def test_media_comes_from_where_the_server_listens(lonely, start, tmp_path, host, name):
    server = start(lonely(*mediabridge("dev-server", "--host", host, "--port", 0, "--json")))
    url = f"ws://{name}:{server.wait_for('listening')['port']}"
    access = ("--url", url, *KEYS, "--room", "r", "--json")
    start(lonely(*mediabridge("publish-test", *access, "--identity", "alice"))).wait_for("publishing")
    file = tmp_path / "x.mkv"
    recorder = start(lonely(*mediabridge("record", *access, "--duration", "2s", file)))
    assert recorder.finish(40) == 0, recorder.report("failed")
    assert checks.decode_errors(file) == []
