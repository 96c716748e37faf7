"""Programs on a terminal, and what they write there."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time

from programs import ROOT

COLUMNS = 40
# What our programs command a terminal: begin the line anew, empty the screen.
ANEW, EMPTY = "\r\x1b[K", "\x1b[2J\x1b[H"


class OnTerminal:
    """A program whose standard output and standard error are one terminal, or without one two pipes; what it writes."""

    def __init__(self, arguments, *, is_terminal=True, is_typed=False):
        self.is_terminal = is_terminal
        self.arguments = [str(argument) for argument in arguments]
        self._parts = []
        if is_terminal:
            reader, writer = pty.openpty()
            fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        else:
            reader, writer = os.pipe()
        self.process = subprocess.Popen(self.arguments, cwd=ROOT, stdout=writer, stderr=writer, stdin=writer if is_typed else subprocess.DEVNULL)
        os.close(writer)
        self._terminal = reader
        self._thread = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._thread.start()

    def _read(self, reader):
        try:
            while part := os.read(reader, 65536):
                self._parts.append(part)
        except OSError:
            pass  # The other end is closed: the program has ended.
        os.close(reader)

    def type(self, line):
        """As somebody in front of it does; with `is_typed`."""
        os.write(self._terminal, f"{line}\n".encode())

    @property
    def written(self):
        """Until now."""
        return b"".join(self._parts)

    def wait_for(self, *texts, timeout=30):
        """Waits until one of them was written."""
        deadline = time.monotonic() + timeout
        while not any(text.encode() in (written := self.written) for text in texts):
            assert time.monotonic() < deadline and self.process.poll() is None, f"no '{texts}' in {written[-3000:]}"
            time.sleep(0.02)

    def finish(self, timeout=60):
        """Waits for its end; all that it wrote, byte by byte."""
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "no end of its own"
        self._thread.join(10)
        written = self.written
        assert status == 0, f"{self.arguments} ended with {status}: {written[-3000:]}"
        return written


def lines(written):
    """What stands on the screen in the end, when the lines are long enough for it."""
    text = written.decode().replace("\r\n", "\n").replace(EMPTY, "\n")
    return [line.split(ANEW)[-1] for line in text.split("\n")]
