"""The layers of a foreign publisher's simulcast track: whoever asks for another one gets it, and sees no break."""

from dataclasses import dataclass

import pytest

pytestmark = pytest.mark.long

# Slow, so that an encoder of three layers keeps the pace next to the rest: it is the switching that is tested.
FPS = 10
HEIGHTS = {"low": 180, "medium": 360, "high": 720}
CLOCK = ("--no-audio", "--clock-code")
# What decoders and what feeds them complain of goes to standard error.
COMPLAINTS = "libav:2,videodecoder:2,rtpvp8depay:2,rtph264depay:2,rtpbasedepayload:2"


@dataclass
class Frame:
    number: int
    captured: float
    rendered: float
    timestamp: float
    height: int


@dataclass
class Request:
    time: float
    height: int


@dataclass
class Seen:
    """What a subscriber asked for and what it saw, times in seconds."""

    frames: list
    requests: list
    """When each frame that was sent in all layers was shown to those who do not switch, by number."""
    due: dict
    program: object

    def report(self, what, around=None):
        shown = [frame for frame in self.frames if around is None or abs(frame.rendered - around) < 1]
        lines = [
            f"#{frame.number} {frame.height} rendered {frame.rendered:.3f} of {frame.timestamp:.3f}"
            for frame in shown[-40:]
        ]
        return "\n".join([what, *lines, self.program.errors])


@pytest.fixture
def layered(server):
    """Publishes three layers in a room, and returns when the largest one is sent: libwebrtc begins with less."""

    def publish(room, codec, *options):
        server.foreign_publisher(
            *("--room", room, "--codec", codec, "--simulcast", "--keep-size", "--no-audio", "--fps", FPS),
            *("--bitrate", 2_500_000, "--duration", 200, *options),
            script="publish_clock.py",
        )
        watch(server, room, "--quality", "high", until="1280x720")

    return publish


def watch(server, room, *options, until):
    """Waits until frames of that size have been coming for a while."""
    program = server.probe(room, "--no-audio", *options)
    sizes = []
    while sizes[-3:] != [until] * 3:
        sizes.append(program.wait_for("progress", 60)["size"])
        assert len(sizes) < 60, program.report(f"no frames of {until}")
    program.stop()


def see(server, room, qualities, each, rest):
    """Asks for the qualities in turn, and watches on for a while after the last one; beside it those who watch one
    layer all the time tell what there was to see."""
    seconds = each * len(qualities) + rest
    steady = [server.probe(room, *CLOCK, "--quality", quality) for quality in set(qualities)]
    for program in steady:
        while program.wait_for("progress")["frames"] == 0:
            pass
    schedule = ("--quality", ",".join(qualities), "--each", each, "--duration", seconds)
    program = server.probe(room, *CLOCK, *schedule, complaints=COMPLAINTS)
    assert program.finish(seconds + 30) == 0, program.report("failed")
    asked = [event for event in program.events if event["event"] == "quality"]
    assert [event["quality"] for event in asked] == qualities, program.report(f"asked for {asked}")
    for other in steady:
        other.stop()
        assert other.finish() == 0, other.report("failed")
    sent = [{frame.number: frame for frame in frames_of(other)} for other in steady]
    due = {number: max(layer[number].rendered for layer in sent) for number in set.intersection(*map(set, sent))}
    requests = [Request(event["time"] / 1e6, HEIGHTS[event["quality"]]) for event in asked]
    return Seen(frames_of(program), requests, due, program)


def frames_of(program):
    told = next(event for event in program.events if event["event"] == "clock")
    assert told["unreadable"] == 0, program.report(f"{told['unreadable']} frames without a number")
    return [
        Frame(number, *(moment / 1e6 for moment in moments), height) for number, *moments, height in told["frames"]
    ]


def assert_unbroken(seen):
    assert not seen.program.errors, seen.report("complaints")
    pairs = list(zip(seen.frames, seen.frames[1:]))
    back = [b for a, b in pairs if b.timestamp <= a.timestamp or b.number < a.number]
    assert not back, seen.report(f"time goes back: {back}", back[0].rendered)
    shown = {frame.number: frame.rendered for frame in seen.frames}
    due = {number: time for number, time in seen.due.items() if min(shown) < number < max(shown)}
    assert len(due) >= 0.5 * (max(shown) - min(shown)), seen.report(f"only {len(due)} frames were sent in all layers")
    # In time: when all layers of it are there, a frame later at the most.
    missing = [number for number, time in due.items() if shown.get(number, float("inf")) > time + 1 / FPS]
    assert len(missing) <= 3, seen.report(f"not shown in time: {sorted(missing)}", due[min(missing)])


def assert_time_is_kept(seen):
    """A frame of whichever layer has the timestamp of when it was taken."""
    late = [frame.timestamp - frame.captured for frame in seen.frames]
    # Before the first sender reports of a layer its place is guessed by its arrival.
    settled = [delay for delay, frame in zip(late, seen.frames) if frame.rendered - seen.requests[0].time > 6]
    assert max(settled) - min(settled) < 0.1, seen.report(f"timestamps move by {max(settled) - min(settled):.3f} s")


def changes_after(seen, request, end):
    """How long after the request a frame of its size came, if the next request left it the time."""
    came = [frame.rendered for frame in seen.frames if frame.height == request.height]
    return next((time - request.time for time in came if request.time <= time < end), None)


@pytest.mark.parametrize("codec", ["VP8", "H264"])
@pytest.mark.parametrize("qualities", [["low", "high", "low"], ["high", "low", "high"]], ids="-".join)
def test_a_layer_comes_within_two_seconds(server, layered, codec, qualities):
    layered("switch", codec)
    seen = see(server, "switch", qualities, each=4, rest=0)
    ends = [request.time for request in seen.requests[1:]] + [float("inf")]
    for request, end in list(zip(seen.requests, ends))[1:]:
        delay = changes_after(seen, request, end)
        assert delay is not None and delay <= 2, seen.report(f"{request} came after {delay}", request.time)
        settled = {p.height for p in seen.frames if request.time + 2 < p.rendered < end}
        assert settled == {request.height}, seen.report(f"{request} came with {settled}", request.time)
    assert_unbroken(seen)
    assert_time_is_kept(seen)


@pytest.mark.parametrize("codec", ["VP8", "H264"])
@pytest.mark.parametrize("last", ["low", "high"])
def test_thirty_fast_flips_end_where_they_should(server, layered, codec, last):
    # An encoder pays for so many keyframes by leaving frames out, unless they are easy.
    layered("flips", codec, "--soft")
    other = "high" if last == "low" else "low"
    seen = see(server, "flips", [other, last] * 15, each=0.4, rest=5)
    request = seen.requests[-1]
    after = [frame for frame in seen.frames if frame.rendered > request.time + 2]
    assert {frame.height for frame in after} == {HEIGHTS[last]}, seen.report("the last one asked for", request.time)
    switches = sum(a.height != b.height for a, b in zip(seen.frames, seen.frames[1:]))
    assert switches >= 5, seen.report(f"only {switches} changes of size")
    assert_unbroken(seen)
