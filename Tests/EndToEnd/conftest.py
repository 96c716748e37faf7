"""A namespace, a room server in it, and the programs of a test; all ended when the test ends."""

import subprocess
from contextlib import ExitStack

import pytest
from _pytest.runner import runtestprotocol

# Helpers whose assertions say what they found, as those of tests do.
pytest.register_assert_rewrite(
    "checks", "desktop", "failures", "network", "programs", "publishing", "real_clip", "runner", "terminal"
)

import clip  # noqa: E402
import livekit_server  # noqa: E402
from network import Namespace, RoutedNetwork  # noqa: E402
from programs import KEYS, Program, mediabridge, python  # noqa: E402
from runner import Runner  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "realtime: measures real time, and runs beside one other at most")
    config.addinivalue_line("markers", "long: takes minutes; `make test-long` runs it")
    config.addinivalue_line("markers", "minutes: waits for ten of them, beside the other long ones")
    config.addinivalue_line("markers", "outside: builds a package outside the repository; needs no root")


STALLS = pytest.StashKey[list]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """What fails while the machine stalls a publisher proves nothing, and is run once more at once."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    item.stash[STALLS] = []
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports) and item.stash[STALLS]:
        item.warn(pytest.PytestWarning(f"failed while a publisher stalled for {max(item.stash[STALLS])} s; run again"))
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def namespace():
    """Network of its own: foreign clients cannot use loopback of the machine's."""
    with Namespace() as network:
        yield network


@pytest.fixture
def start(request):
    """Starts programs and ends them with the test, the last one first."""
    running = []

    def begin(arguments):
        running.append(Program(arguments))
        return running[-1]

    yield begin
    for program in reversed(running):
        program.stop()
    events = [event for program in running for event in (*program.events, *program.drain())]
    request.node.stash[STALLS] += [event["seconds"] for event in events if event.get("event") == "stalled"]


class RoomServer:
    """The development server, or LiveKit's, with what a test asks of it."""

    def __init__(self, begin, enter, *options, client=None, port=0):
        self._begin, self.enter, self._client = begin, enter, client or enter
        if livekit_server.BINARY:
            self.program, self.url = livekit_server.start(begin, enter, *options, port=port)
            return
        self.program = begin(enter(*mediabridge("dev-server", "--port", port, "--json", *options)))
        self.url = self.program.wait_for("listening")["url"]

    @property
    def port(self):
        """Of its signalling."""
        return self.url.rsplit(":", 1)[1]

    def foreign_publisher(self, *options, script="publish.py", url=None, enter=None):
        """The LiveKit Python SDK publishing the synthetic clip, or what another script does; returns when it does."""
        publisher = self._begin((enter or self.enter)(*python(script, "--url", url or self.url, *options)))
        publisher.wait_for("published")
        return publisher

    def end(self, number):
        """By that signal, at once."""
        if livekit_server.BINARY:
            livekit_server.end(self.program, number)
        else:
            self.program.send(number)

    def start_again(self):
        """Another one in its place, at the same port, once this one has ended."""
        return RoomServer(self._begin, self.enter, client=self._client, port=self.port)

    def ask(self, address):
        """What is answered to a GET there, from where the server is."""
        get = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())"
        command = self.enter("python3", "-c", get, address)
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def own_publisher(self, room, identity, codec):
        publisher = self._begin(
            self.enter(
                *mediabridge("publish-test", "--url", self.url, *KEYS, "--room", room),
                *("--identity", identity, "--codec", codec, "--duration", "120s", "--json", "--reconnect-attempts", 0),
                *("--set", f"width={clip.SIZE[0]}", "--set", f"height={clip.SIZE[1]}"),
            )
        )
        publisher.wait_for("publishing")
        return publisher

    def subscriber(self, *options, url=None):
        return self._begin(self.enter(*python("subscribe.py", "--url", url or self.url, *options)))

    def watcher(self, room, *options, url=None, access=KEYS):
        return self._begin(
            self._client(*mediabridge("watch", "--url", url or self.url, *access, "--room", room, "--json", *options))
        )

    def probe(self, room, *options, complaints=""):
        """`probe`, which says on standard error what GStreamer's categories of `complaints` have to warn of."""
        command = mediabridge("probe", "--url", self.url, *KEYS, "--room", room, "--json", *options)
        return self._begin(self.enter("env", f"GST_DEBUG={complaints}", "GST_DEBUG_NO_COLOR=1", *command))

    def recorder(self, room, participant, file, *options, url=None, prefix=(), command="record"):
        """`prefix` is a command that runs it."""
        return self._begin(
            self._client(
                *prefix,
                *mediabridge(command, "--url", url or self.url, *KEYS, "--room", room),
                *(("--participant", participant) if participant else ()),
                *("--wait", "20s", "--json", *options, file),
            )
        )


@pytest.fixture
def server(start, namespace):
    """A development server that foreign clients reach."""
    return RoomServer(start, namespace.command)


@pytest.fixture
def runner(start, server, tmp_path):
    """`mediabridge run` in rooms of that server."""
    return Runner(start, server, tmp_path)


@pytest.fixture
def local_server(start):
    """A development server on loopback, for tests of ours alone."""
    return RoomServer(start, lambda *arguments: arguments)


@pytest.fixture
def routed():
    """A network whose middle can be told what to drop."""
    with RoutedNetwork() as network:
        yield network


@pytest.fixture
def distant_server(start, routed):
    """Makes a development server whose recorders are behind a router; options are the server's."""

    def make(*options):
        return RoomServer(start, routed.server, "--host", routed.SERVER, *options, client=routed.client)

    return make


@pytest.fixture
def visited_server(start, routed):
    """A development server beside which we are; guests may come over the router."""
    return RoomServer(start, routed.server, "--host", routed.SERVER)


@pytest.fixture
def disks(tmp_path):
    """Makes file systems that are full after so many kB."""
    with ExitStack() as mounted:

        def make(name, size):
            folder = tmp_path / name
            folder.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], check=True)
            mounted.callback(subprocess.run, ["umount", "-l", folder], check=True)
            return folder

        yield make
