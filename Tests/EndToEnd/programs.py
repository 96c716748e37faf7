"""Programs under test that tell what they do in JSON lines."""

import collections
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

from forked import Forked

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
BINARY = Path(os.environ.get("MEDIABRIDGE_BIN", ROOT / ".build/release/mediabridge")).absolute()
KEYS = ("--api-key", "devkey", "--api-secret", "secret")


def _begin(arguments):
    """Scripts of this folder are forked; those of others, which may be measured, are processes of their own."""
    match arguments:
        case ["ip", "netns", "exec", network, sys.executable, script, *options] if Path(script).parent == FOLDER:
            return Forked(script, options, network)
        case [sys.executable, script, *options] if Path(script).parent == FOLDER:
            return Forked(script, options)
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(arguments, cwd=ROOT, text=True, errors="replace", **streams)


class Program:
    """A running program: its events in order, and what it said on standard error."""

    def __init__(self, arguments):
        self.arguments = [str(argument) for argument in arguments]
        self.events = []
        self._queue = queue.Queue()
        self._errors = collections.deque(maxlen=60)
        self._process = _begin(self.arguments)
        self._readers = [
            threading.Thread(target=self._read_events, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self):
        return self._process.pid

    @property
    def errors(self):
        return "\n".join(self._errors)

    def _read_events(self):
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                event = {"event": "text", "text": line.rstrip()}
            self._queue.put(event)
        self._queue.put(None)

    def _read_errors(self):
        for line in self._process.stderr:
            self._errors.append(line.rstrip())

    def next(self, timeout=30, wanted="event"):
        """The next event; fails with all that was said when none comes."""
        try:
            event = self._queue.get(timeout=max(0, timeout))
        except queue.Empty:
            raise AssertionError(self.report(f"no '{wanted}' in time")) from None
        if event is None:
            raise AssertionError(self.report(f"ended ({self._process.wait()}) before '{wanted}'"))
        self.events.append(event)
        return event

    def wait_for(self, name, timeout=30):
        """The next event of that name."""
        deadline = time.monotonic() + timeout
        while True:
            event = self.next(deadline - time.monotonic(), name)
            if event.get("event") == name:
                return event

    def wait_for_new(self, name, timeout=30):
        """The next event of that name which is told from now on; others may wait unread since long."""
        for _ in range(self._queue.qsize()):
            self.next(0, name)
        return self.wait_for(name, timeout)

    def drain(self):
        """The events that have come and were not read."""
        come = [self._queue.get() for _ in range(self._queue.qsize())]
        events = [event for event in come if event is not None]
        if None in come:
            self._queue.put(None)
        self.events += events
        return events

    def finish(self, timeout=60):
        """Waits for its end by itself; its exit status."""
        try:
            status = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.report(f"still running after {timeout} s")) from None
        for reader in self._readers:
            reader.join(5)
        self.events += [event for event in list(self._queue.queue) if event]
        return status

    def write(self, *lines):
        """On its standard input."""
        self._process.stdin.write("".join(f"{line}\n" for line in lines))
        self._process.stdin.flush()

    def close_input(self):
        self._process.stdin.close()

    def send(self, number):
        self._process.send_signal(number)

    def wait_for_error(self, text, timeout=30):
        """Waits until standard error holds that text."""
        deadline = time.monotonic() + timeout
        while text not in self.errors:
            assert time.monotonic() < deadline, self.report(f"no '{text}' within {timeout} s")
            assert self._process.poll() is None, self.report(f"ended before '{text}'")
            time.sleep(0.02)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def stop(self):
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def report(self, what):
        return f"{' '.join(self.arguments)}: {what}\nevents: {self.events[-8:]}\nstandard error:\n{self.errors}"


def mediabridge(*arguments):
    assert BINARY.is_file(), f"{BINARY} is not there: run 'make release', or set MEDIABRIDGE_BIN"
    return (BINARY, *arguments)


def python(script, *arguments):
    return (sys.executable, FOLDER / script, *arguments)
