"""What a program takes of the machine while it receives."""

from collections import Counter
from pathlib import Path


def threads(program):
    """How many threads the program has of each name."""
    return Counter(path.read_text().strip() for path in Path(f"/proc/{program.pid}/task").glob("*/comm"))


def test_threads_of_one_track(local_server):
    local_server.own_publisher("threads", "alice", "vp8")
    probe = local_server.probe("threads", "--duration", "60s")
    while probe.wait_for("progress")["frames"] == 0:
        pass
    names = threads(probe)
    # However many processors there are.
    assert sum(count for name, count in names.items() if name.startswith("NIO")) == 1, names
    # Packets are put in order on the network's thread.
    assert not any("jitter" in name for name in names), names
