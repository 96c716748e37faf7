"""Chromium without a window, which shows a page; one that plays a playlist sends what it saw."""

import contextlib
import functools
import http.server
import io
import json
import queue
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from urllib.parse import parse_qs, quote, urlparse

import av

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER / "player.html"


@contextlib.contextmanager
def showing(address, *options):
    """The page of that address, with further options of Chromium."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        usual = ["--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio", f"--user-data-dir={profile}"]
        with subprocess.Popen(["chromium", *usual, *options, address], stderr=subprocess.DEVNULL) as browser:
            try:
                yield
            finally:
                browser.terminate()
                browser.wait(10)


class Page(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments, answers, **more):
        self._answers = answers
        super().__init__(*arguments, **more)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answers.put((urlparse(self.path), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def play(playlist, seconds=60):
    """What the page says of the playlist, and {seconds: luma} of the frames that it showed."""
    shutil.copy(PAGE, playlist.parent)
    answers, frames = queue.Queue(), {}
    serve = functools.partial(Page, answers=answers, directory=playlist.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with showing(f"http://127.0.0.1:{server.server_port}/{PAGE.name}?playlist={quote(playlist.name)}"):
                while True:
                    path, body = answers.get(timeout=seconds)
                    if path.path == "/done":
                        return json.loads(body), frames
                    frames[float(parse_qs(path.query)["at"][0])] = luma(body)
        finally:
            server.shutdown()


def luma(png):
    with av.open(io.BytesIO(png)) as container:
        (frame,) = container.decode(video=0)
        return frame.reformat(format="gray").to_ndarray()
