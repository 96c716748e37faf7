import json
import sys

from conftest import ACCESS, BINARY, HERE, URL


def watch(bench):
    result = bench.run(sys.executable, HERE / "subscribe.py", "--url", URL, "--duration", 6)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_the_python_sdk_receives_what_the_python_sdk_publishes(bench):
    bench.publish("--codec", "VP8")
    seen = watch(bench)
    numbers = [number for number in seen["numbers"] if number is not None]
    assert len(numbers) >= 100 and numbers == sorted(numbers)
    assert seen["level"] > 1000
    assert {identity for identity, _ in seen["tracks"]} == {"alice"}


def test_the_python_sdk_receives_what_our_publisher_sends(bench):
    bench.start(BINARY, "publish-test", *ACCESS, "--identity", "alice", "--json", first_event="publishing")
    seen = watch(bench)
    assert seen["frames"] >= 100 and "640x360" in seen["sizes"]
    assert seen["level"] > 1000


def test_simulcast_arrives_in_full_size(bench):
    bench.publish("--codec", "VP8", "--simulcast", "--width", 1280, "--height", 720)
    seen = watch(bench)
    assert "1280x720" in seen["sizes"], seen["sizes"]
