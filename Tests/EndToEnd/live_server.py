"""nginx with its RTMP module: a live server that we did not write. It takes what has the right key, and records it.

With a certificate it takes TLS, too, as servers of RTMPS do.
"""

import contextlib
import subprocess
import time

KEY = "live_0123456789_secret"
# `master_process off` keeps it one process, which can be killed and stopped as such.
SETTINGS = """
load_module /usr/lib/nginx/modules/ngx_rtmp_module.so; load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr warn;
events {{ worker_connections 64; }}
rtmp {{ server {{ listen 127.0.0.1:{port};
  application live {{ live on; record all; record_unique on; record_path {folder}/received;
    notify_method get; on_publish http://127.0.0.1:{hook}/publish; }} }} }}
http {{ access_log off; client_body_temp_path {folder}/body;
  server {{ listen 127.0.0.1:{hook};
    location /publish {{ if ($args !~ "(^|&){by}(&|$)") {{ return 403; }} return 200; }} }} }}
"""
TLS_SETTINGS = """
stream {{ server {{ listen 127.0.0.1:{tls} ssl; proxy_pass 127.0.0.1:{port};
  ssl_certificate {certificate}; ssl_certificate_key {certificate}; }} }}
"""


class LiveServer:
    ADDRESS = "rtmp://127.0.0.1:1935/live/"

    def __init__(self, begin, enter, folder, port=1935, certificate=None, by=f"name={KEY}"):
        """`certificate` is a file with its key; TLS has the port after `port`. `by` is what who may publish has in it."""
        self._begin, self._enter, self._folder = begin, enter, folder
        self.address = f"rtmp://127.0.0.1:{port}/live/{KEY}"
        (folder / "received").mkdir(parents=True)
        settings = SETTINGS.format(folder=folder, by=by, port=port, hook=port + 6000)
        if certificate:
            settings += TLS_SETTINGS.format(tls=port + 1, port=port, certificate=certificate)
        (folder / "nginx.conf").write_text(settings)
        self.start()

    def start(self):
        """Returns once it listens."""
        self._program = self._begin(self._enter("nginx", "-p", self._folder, "-c", self._folder / "nginx.conf"))
        try:
            wait_until("nginx runs", lambda: (self._folder / "nginx.pid").exists())
        except AssertionError as error:
            raise AssertionError(self._program.report(str(error))) from None

    def kill(self):
        self._program.kill()
        (self._folder / "nginx.pid").unlink()

    @contextlib.contextmanager
    def little_memory(self):
        """The kernel takes less than a second of media for a server that reads nothing."""
        names = [f"net.ipv4.tcp_{way}" for way in ("rmem", "wmem")]
        command = self._enter("sysctl", *names)
        before = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        self._set_kernel(*(f"{name}=4096 16384 16384" for name in names))
        try:
            yield
        finally:
            self._set_kernel(*(line.replace(" = ", "=") for line in before))

    def _set_kernel(self, *values):
        subprocess.run(self._enter("sysctl", "-q", "-w", *values), check=True)

    def send(self, number):
        self._program.send(number)

    @property
    def received(self):
        """The recordings, in the order in which they began."""
        return sorted((self._folder / "received").iterdir(), key=lambda file: file.name)


def wait_until(what, holds, seconds=10):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not in {seconds} s: {what}"
        time.sleep(0.02)
