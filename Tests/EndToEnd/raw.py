"""`mediabridge frames` and `pcm` with a reader behind them."""

import json
import subprocess
import threading

from programs import KEYS, ROOT, mediabridge


class Reader:
    """One of these commands, whose standard output a test reads, with what it says on standard error."""

    def __init__(self, server, command, *options, room="test"):
        arguments = mediabridge(command, "--url", server.url, *KEYS, "--room", room, "--json", "--wait", "30s", *options)
        self.process = subprocess.Popen(
            [str(argument) for argument in server.enter(*arguments)], cwd=ROOT, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, bufsize=0,
        )
        self._said = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        for line in self.process.stderr:
            self._said.append(line.decode(errors="replace"))

    def read(self, count):
        """So many bytes; fewer at the end."""
        parts = []
        while count > 0 and (part := self.process.stdout.read(min(count, 1 << 20))):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def all(self, timeout=60):
        """Everything until it ends well."""
        timer = threading.Timer(timeout, self.process.kill)
        timer.start()
        data = self.read(1 << 62)
        status = self.finish()
        timer.cancel()
        assert status == 0, self.said
        return data

    def finish(self, timeout=30):
        """Its exit status."""
        status = self.process.wait(timeout)
        self._listener.join(5)
        return status

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.finish()

    @property
    def said(self):
        return "".join(self._said)

    @property
    def events(self):
        return [json.loads(line) for line in self._said if line.startswith("{")]


def lines(file):
    """The JSON objects of a file, as far as they are written."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


def of(name, events):
    return [event for event in events if event["event"] == name]
