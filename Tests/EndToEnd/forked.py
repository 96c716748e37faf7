"""Python scripts of tests, forked from one process that has imported what most of them need: to import it takes longer
than to join a room, and half of what a test has to do."""

import ctypes
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from multiprocessing.reduction import DupFd

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["numpy", "livekit.api", "livekit.rtc", "livekit.rtc.e2ee", "clip"])
_PR_SET_NAME = 15
# With threads of a library's own nothing may fork.
os.environ["OPENBLAS_NUM_THREADS"] = "1"


class _Streams:
    """Three descriptors on their way into the process."""

    def __init__(self, *descriptors):
        self._descriptors = descriptors

    def __getstate__(self):
        return [DupFd(descriptor) for descriptor in self._descriptors]

    def __setstate__(self, state):
        self._descriptors = [descriptor.detach() for descriptor in state]

    def become_standard(self):
        for number, descriptor in enumerate(self._descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin = open(0, closefd=False)


def _run(streams, namespace, script, options):
    streams.become_standard()
    libc = ctypes.CDLL(None, use_errno=True)
    # What ps and perf call it.
    libc.prctl(_PR_SET_NAME, os.path.basename(script).encode())
    if namespace:
        with open(f"/run/netns/{namespace}") as place:
            if libc.setns(place.fileno(), 0):
                raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
    # The SDK reads all certificates of the machine for each connection, and these need none.
    os.environ["SSL_CERT_FILE"] = os.devnull
    sys.argv = [script, *options]
    runpy.run_path(script, run_name="__main__")


class Forked:
    """A script that runs, with what tests use of `subprocess.Popen`."""

    def __init__(self, script, options, namespace=None):
        """`namespace` is the network's that it is in."""
        ours, theirs = [], []
        for is_input in (True, False, False):
            reading, writing = os.pipe()
            ours.append(open(writing, "w") if is_input else open(reading, errors="replace"))
            theirs.append(reading if is_input else writing)
        self.stdin, self.stdout, self.stderr = ours
        self._process = _CONTEXT.Process(target=_run, args=(_Streams(*theirs), namespace, script, options), daemon=True)
        self._process.start()
        for descriptor in theirs:
            os.close(descriptor)

    @property
    def pid(self):
        return self._process.pid

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout)
        return self._process.exitcode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)
