"""A way to us that is narrow: LiveKit's server is told, and sends less."""

import livekit_server
import pytest
from network import STUN
from programs import KEYS, mediabridge

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(not livekit_server.BINARY, reason="the development server does not fit layers to a link"),
]

FPS = 15
FULL = "1280x720"


@pytest.fixture
def probe(start, routed, distant_server):
    """Takes the largest layer that it is sent of a foreign publisher's three, from behind the router."""
    server = distant_server()
    server.foreign_publisher(
        *("--simulcast", "--keep-size", "--width", 1280, "--height", 720, "--fps", FPS),
        *("--bitrate", 2_500_000, "--duration", 200),
    )
    command = mediabridge("probe", "--url", server.url, *KEYS, "--room", "test", "--json", "--no-audio", "--quality", "high")
    return start(routed.client(*command))


def seconds(probe, count):
    """What is seen second by second: sizes, and how many frames so far."""
    for _ in range(count):
        event = probe.wait_for_new("progress", 10)
        yield event["size"], event["frames"]


def told(probe, name):
    return [event for event in probe.events if event["event"] == name]


def wait_for_full(probe, limit, count):
    """Until so many seconds in a row have the largest layer."""
    seen = []
    for second in seconds(probe, limit):
        seen.append(second)
        if [size for size, _ in seen[-count:]] == [FULL] * count:
            return
    raise AssertionError(seen)


def test_layers_are_lowered_and_come_back(routed, probe):
    wait_for_full(probe, 40, 5)
    with routed.bandwidth_to_client("300kbit"):
        narrow = list(seconds(probe, 30))
    assert not told(probe, "downlink_restored")
    assert 150_000 < told(probe, "downlink_limited")[0]["bitrate"] < 400_000
    settled = narrow[10:]
    # The server tries now and then whether there is room for more, and loses frames over that.
    assert sum(size == FULL for size, _ in settled) <= 2, narrow
    assert settled[-1][1] - settled[0][1] > 0.25 * FPS * (len(settled) - 1), narrow
    wait_for_full(probe, 60, 10)
    assert told(probe, "downlink_restored")


def test_loss_without_a_queue_lowers_nothing(routed, probe):
    wait_for_full(probe, 40, 5)
    lost = 'iifname "server" meta l4proto udp numgen random mod 100 < 10 drop;'
    routed.drop(forward=f'iifname "server" {STUN} accept; {lost}')
    lossy = list(seconds(probe, 30))
    assert all(size == FULL for size, _ in lossy), lossy
    assert not told(probe, "downlink_limited")
    assert lossy[-1][1] - lossy[0][1] > 0.9 * FPS * (len(lossy) - 1), lossy
