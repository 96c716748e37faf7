"""LiveKit's own server in place of the development server: `MEDIABRIDGE_LIVEKIT_SERVER` is the path of its binary."""

import json
import os
import signal
import socket

import pytest

BINARY = os.environ.get("MEDIABRIDGE_LIVEKIT_SERVER")


def patient():
    """Options of a server that keeps whose signalling is lost for longer than a test takes; LiveKit's does by itself."""
    return () if BINARY else ("--resume-window", "60s")


def start(begin, enter, *options, port=0):
    """The running server and its address; skips a test whose server has to do what only ours can."""
    host, others = (options[1], options[2:]) if options[:1] == ("--host",) else ("127.0.0.1", options)
    if others:
        pytest.skip(f"LiveKit's server has no {others[0]}")
    port = int(port) or free_port(socket.SOCK_STREAM)
    program = begin(enter(BINARY, "--config-body", json.dumps(configuration(host, port))))
    program.wait_for_error("starting LiveKit server")
    return program, f"ws://{host}:{port}"


def end(program, number):
    """Asked to end, it waits until everybody has left, unless it is asked again."""
    program.send(number)
    if number == signal.SIGTERM:
        program.wait_for_error("exit requested")
        program.send(number)


def configuration(host, port):
    """JSON is YAML. With an address of the node and a STUN server that is none, nobody asks a public one.

    TCP candidates listen on every address, so they are for networks of a test's own.
    """
    media = {"node_ip": host, "udp_port": free_port(socket.SOCK_DGRAM), "stun_servers": [f"{host}:9"]}
    if host.startswith("127."):
        media |= {"tcp_port": 0, "interfaces": {"includes": ["lo"]}, "enable_loopback_candidate": True}
    return {
        "port": port,
        "bind_addresses": [host],
        "keys": {"devkey": "secret"},
        "rtc": media,
        "logging": {"level": os.environ.get("MEDIABRIDGE_LIVEKIT_LOG", "info")},
    }


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
