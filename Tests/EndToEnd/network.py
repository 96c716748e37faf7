"""Networks of namespaces: one in which libwebrtc and a server on loopback can meet, one with a router between.

libwebrtc leaves loopback interfaces out, so a veth end carries 127.0.0.2; nothing leaves the machine.
"""

import json
import os
import shutil
import subprocess
import time
import uuid
from contextlib import contextmanager
from pathlib import Path


# The magic cookie (RFC 8489, 5) where UDP carries it.
STUN = "@th,96,32 0x2112a442"


def reset(server):
    """A rule for `drop`: whoever has signalling with a server, or wants it, is told that there is none."""
    port = server.port
    return f"tcp dport {port} reject with tcp reset; tcp sport {port} reject with tcp reset;"


def _run(*command):
    subprocess.run(command, check=True, capture_output=True, text=True)


class Namespace:
    def __init__(self):
        if os.geteuid() != 0:
            raise RuntimeError("these tests make a network namespace: run them as root (sudo make e2e)")
        self.name = f"mb-{uuid.uuid4().hex[:8]}"

    def __enter__(self):
        end = self.name[3:]
        _run("ip", "netns", "add", self.name)
        try:
            inside = ("ip", "-n", self.name)
            _run(*inside, "link", "add", f"a{end}", "type", "veth", "peer", "name", f"b{end}")
            for interface in ("lo", f"a{end}", f"b{end}"):
                _run(*inside, "link", "set", interface, "up")
            _run(*inside, "address", "add", "127.0.0.2/32", "dev", f"a{end}")
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise RuntimeError(f"cannot set up a network namespace: {error.stderr}") from error
        return self

    def __exit__(self, *_):
        subprocess.run(("ip", "netns", "delete", self.name), capture_output=True, check=False)

    def command(self, *arguments):
        return ("ip", "netns", "exec", self.name, *map(str, arguments))


class RoutedNetwork:
    """A client and a server with a router between them, which can be told what to drop."""

    CLIENT, SERVER = "10.77.1.2", "10.77.2.2"
    # The router's addresses on the two sides; a relay can live there.
    CLIENT_SIDE, SERVER_SIDE = "10.77.1.1", "10.77.2.1"
    RELAY_NAME = "relay.test"

    def __init__(self):
        if os.geteuid() != 0:
            raise RuntimeError("these tests make network namespaces: run them as root (sudo make e2e)")
        self.name = f"mb-{uuid.uuid4().hex[:8]}"

    def __enter__(self):
        try:
            self._name_relay()
            for side in ("router", "client", "server"):
                _run("ip", "netns", "add", f"{self.name}-{side}")
                _run("ip", "-n", f"{self.name}-{side}", "link", "set", "lo", "up")
            self._connect("client", self.CLIENT, self.CLIENT_SIDE)
            self._connect("server", self.SERVER, self.SERVER_SIDE)
            _run(*self.router("sysctl", "-q", "-w", "net.ipv4.ip_forward=1"))
            self.open()
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise RuntimeError(f"cannot set up network namespaces: {error.stderr}") from error
        return self

    def __exit__(self, *_):
        for side in ("client", "server", "router"):
            subprocess.run(("ip", "netns", "delete", f"{self.name}-{side}"), capture_output=True, check=False)
        shutil.rmtree(self._settings, ignore_errors=True)

    @property
    def _settings(self):
        """ip-netns(8): its files stand in for those of /etc in the client's namespace."""
        return Path(f"/etc/netns/{self.name}-client")

    def _name_relay(self):
        self._settings.mkdir(parents=True)
        self.move_relay(self.CLIENT_SIDE)

    def move_relay(self, address):
        """Its name leads the client there."""
        (self._settings / "hosts").write_text(f"127.0.0.1 localhost\n{address} {self.RELAY_NAME}\n")

    def _connect(self, side, address, gateway):
        router, end = f"{self.name}-router", f"{self.name}-{side}"
        _run("ip", "-n", router, "link", "add", side, "type", "veth", "peer", "name", "uplink", "netns", end)
        _run("ip", "-n", router, "address", "add", f"{gateway}/24", "dev", side)
        _run("ip", "-n", router, "link", "set", side, "up")
        _run("ip", "-n", end, "address", "add", f"{address}/24", "dev", "uplink")
        _run("ip", "-n", end, "link", "set", "uplink", "up")
        _run("ip", "-n", end, "route", "add", "default", "via", gateway)
        self._wait_until_running(end)

    @staticmethod
    def _wait_until_running(end):
        """The kernel takes up to a second to call a link running, and ICE leaves out those that are not."""
        deadline = time.monotonic() + 10
        show = ("ip", "-j", "-n", end, "link", "show", "uplink")
        while json.loads(subprocess.run(show, check=True, capture_output=True).stdout)[0]["operstate"] != "UP":
            assert time.monotonic() < deadline, f"{end}: the link does not come up"
            time.sleep(0.05)

    def move_client(self, address):
        """The client gets another address in place of its own, as if it had changed networks."""
        client = f"{self.name}-client"
        _run("ip", "-n", client, "address", "flush", "dev", "uplink")
        _run("ip", "-n", client, "address", "add", f"{address}/24", "dev", "uplink")
        _run("ip", "-n", client, "route", "add", "default", "via", self.CLIENT_SIDE)

    def router(self, *arguments):
        return ("ip", "netns", "exec", f"{self.name}-router", *map(str, arguments))

    def client(self, *arguments):
        return ("ip", "netns", "exec", f"{self.name}-client", *map(str, arguments))

    def server(self, *arguments):
        return ("ip", "netns", "exec", f"{self.name}-server", *map(str, arguments))

    def open(self):
        """Everything passes."""
        _run(*self.router("nft", "flush", "ruleset"))

    def narrow(self, packets):
        """Only so many packets a second pass to the client over UDP, whatever they carry; STUN always does, so that
        what happens is about media. What comes in heaps passes, as it does on a busy machine: it is the rate that counts."""
        self.drop(
            forward=f'iifname "server" {STUN} accept;'
            f' iifname "server" meta l4proto udp limit rate over {packets}/second burst 30 packets drop;'
        )

    def bandwidth_to_server(self, rate):
        return self._bandwidth("server", rate)

    def bandwidth_to_client(self, rate):
        return self._bandwidth("client", rate)

    @contextmanager
    def _bandwidth(self, side, rate):
        """No more passes to that side meanwhile; what waits for longer than 300 ms is dropped."""
        place = ("dev", side, "root")
        _run(*self.router("tc", "qdisc", "add", *place, "tbf", "rate", rate, "burst", "5kb", "latency", "300ms"))
        try:
            yield
        finally:
            _run(*self.router("tc", "qdisc", "del", *place))

    def drop(self, forward="", to_router=""):
        """What passes between client and server is dropped by the rules of `forward`, separated by semicolons; what
        comes to the router itself by those of `to_router`."""
        self.open()
        chains = f"chain f {{ type filter hook forward priority 0; {forward} }}\n"
        chains += f"chain i {{ type filter hook input priority 0; {to_router} }}\n"
        _run(*self.router("nft", f"table ip t {{ {chains} }}"))
