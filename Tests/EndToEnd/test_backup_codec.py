"""`publish --backup-codec`: who cannot decode VP9 gets the other codec, which is sent only then."""

import time

import pytest
from programs import python
from publishing import publish

SIZE = ("--set", "width=640", "--set", "height=360")
VP9 = ("--codec", "vp9", *SIZE)


def watch(server, seconds=4, url=None):
    """The LiveKit Python SDK, which sees what there is from now on."""
    subscriber = server.subscriber("--duration", seconds, url=url)
    subscriber.wait_for("connected", 20)
    return subscriber


def see(server, url=None):
    return watch(server, url=url).next(30, "what was seen")


def bytes_sent(publisher, begun):
    """In 3 s from now on."""
    now, told = time.monotonic() - begun, {"seconds": 0}
    while told["seconds"] < now:
        told = publisher.wait_for("progress", 10)
    last = told
    while last["seconds"] < told["seconds"] + 3:
        last = publisher.wait_for("progress", 10)
    return last["bytes"] - told["bytes"]


# Where the server is left to decide it has everybody change over in so small a room, and the first codec stops.
@pytest.mark.parametrize(
    ("policy", "least"), [((), 0.3), (("regression",), 0.3), (("simulcast",), 1.3)], ids=["usual", "regression", "both"]
)
def test_a_subscriber_without_vp9_gets_the_backup_codec(server, start, policy, least):
    options = ("--backup-codec", "vp8", *(("--backup-codec-policy", *policy) if policy else ()))
    publisher = publish(server, start, "pattern", *VP9, *options, room="test")
    assert [track["codec"] for track in publisher.wait_for("publishing", 20)["tracks"]] == ["VP9"]
    begun = time.monotonic()
    assert see(server)["frames"] > 40
    alone = bytes_sent(publisher, begun)
    proxy = start(server.enter(*python("signal_proxy.py", "--to", server.url, "--without", "VP9")))
    url = f"ws://127.0.0.1:{proxy.wait_for('listening')['port']}"
    subscriber = watch(server, 8, url)
    both = bytes_sent(publisher, begun)
    assert both > least * alone
    seen = subscriber.next(30, "what was seen")
    assert seen["frames"] > 30 and "640x360" in seen["sizes"], seen
    # So do those who can receive the first one.
    assert see(server)["frames"] > 40


def test_without_a_backup_codec_there_is_nothing_for_it(server, start):
    publisher = publish(server, start, "pattern", *VP9, room="test")
    publisher.wait_for("publishing", 20)
    proxy = start(server.enter(*python("signal_proxy.py", "--to", server.url, "--without", "VP9")))
    assert see(server, f"ws://127.0.0.1:{proxy.wait_for('listening')['port']}")["frames"] == 0
