"""An X server without a screen, with what is seen on it."""

import contextlib
import signal
import subprocess

import numpy as np
from programs import FOLDER

# Debian's own Python has python3-xlib; the virtual environment has not.
X11 = ("/usr/bin/python3", FOLDER / "x11.py")


class Desktop:
    WIDTH, HEIGHT = 1000, 700

    def __enter__(self):
        self._server = subprocess.Popen(
            [*map(str, X11), "serve", f"{self.WIDTH}x{self.HEIGHT}"], stdout=subprocess.PIPE, text=True
        )
        number = self._server.stdout.readline().strip()
        assert number, "Xvfb does not start: apt-get install xvfb python3-xlib"
        self.environment = {"DISPLAY": f":{number}"}
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Takes the display away from whoever uses it."""
        self._server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._server.wait(10)
        self._server.kill()

    @contextlib.contextmanager
    def hanging(self):
        """Has the display answer nobody meanwhile."""
        self._server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._server.send_signal(signal.SIGCONT)

    def command(self, *arguments):
        """A program with its windows here."""
        return ("env", *(f"{name}={value}" for name, value in self.environment.items()), *map(str, arguments))

    def windows(self):
        """(id, width, height) of each window that is seen."""
        said = subprocess.run(self.command(*X11, "list"), capture_output=True, text=True, check=True).stdout
        return [tuple(map(int, line.split()[:3])) for line in said.splitlines()]

    def act(self, *arguments):
        subprocess.run(self.command(*X11, *arguments), check=True, capture_output=True)

    def screenshot(self):
        """The luma (0…255) of what is seen, height x width."""
        size = f"{self.WIDTH}x{self.HEIGHT}"
        command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-video_size", size]
        command += ["-i", self.environment["DISPLAY"], "-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo", "-"]
        shown = subprocess.run(command, capture_output=True, check=True).stdout
        return np.frombuffer(shown, np.uint8).reshape(self.HEIGHT, self.WIDTH)
