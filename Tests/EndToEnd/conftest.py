"""The program under test in a network of its own, with clients that others wrote."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from network import Namespace

HERE = pathlib.Path(__file__).parent
BINARY = os.environ.get("MEDIABRIDGE_BIN", str(HERE.parent.parent / ".build/release/mediabridge"))
URL = "ws://127.0.0.1:7880"
ACCESS = ("--url", URL, "--api-key", "devkey", "--api-secret", "secret", "--room", "test")


class Bench:
    """A namespace with a running dev-server; every process started through it ends with it."""

    def __init__(self, namespace):
        self.namespace = namespace
        self.processes = []

    def start(self, *command, first_event):
        process = subprocess.Popen(
            self.namespace.command(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.processes.append(process)
        line = process.stdout.readline()
        assert line and json.loads(line)["event"] == first_event, (line, process.stderr.read())
        return process

    def serve(self):
        return self.start(BINARY, "dev-server", "--port", "7880", "--json", first_event="listening")

    def publish(self, *arguments):
        return self.start(
            sys.executable, HERE / "publish.py", "--url", URL, "--duration", 40, *arguments, first_event="published"
        )

    def run(self, *command, timeout=60):
        return subprocess.run(
            self.namespace.command(*command), capture_output=True, text=True, timeout=timeout, check=False
        )

    def record(self, file, *arguments, timeout=60):
        result = self.run(
            BINARY, "record", *ACCESS, "--participant", "alice", "--wait", "20s", "--json", *arguments, file,
            timeout=timeout,
        )
        return result, [json.loads(line) for line in result.stdout.splitlines()]

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def bench():
    with Namespace() as namespace:
        bench = Bench(namespace)
        bench.serve()
        try:
            yield bench
        finally:
            bench.stop()
