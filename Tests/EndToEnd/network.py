"""A network namespace in which libwebrtc and a server on loopback can meet.

libwebrtc leaves loopback interfaces out, so a veth end carries 127.0.0.2; nothing leaves the machine.
"""

import os
import subprocess
import uuid


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
