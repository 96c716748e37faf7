"""What programs cost: processor time from the kernel's clock of each process, memory from /proc."""

import os
import re
import signal
import threading
import time
from pathlib import Path


def cpu_seconds(pid):
    """User and system time of all threads, also of those that have ended, to the nanosecond (clock_getcpuclockid)."""
    return time.clock_gettime(~pid << 3 | 2)


def memory(pid):
    """Megabytes: the most that was resident, what is, and what is with shared pages counted in parts. And threads."""
    status = Path(f"/proc/{pid}/status").read_text()
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    find = lambda name, text: int(re.search(rf"^{name}:\s+(\d+) kB", text, re.M).group(1)) * 1024 / 1e6
    threads = int(re.search(r"^Threads:\s+(\d+)", status, re.M).group(1))
    sizes = {"peak": find("VmHWM", status), "steady": find("VmRSS", status), "share": find("Pss", rollup)}
    return {**sizes, "threads": threads}


def machine_seconds():
    """Processor time that everything on this machine has used."""
    user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Window:
    """A stretch of time, what one process used in it, and which share of the machine went to none of `own`."""

    def __init__(self, pid, own):
        self._pid, self._own = pid, own

    def _read(self):
        return time.monotonic(), cpu_seconds(self._pid), machine_seconds() - sum(map(cpu_seconds, self._own))

    def __enter__(self):
        self._start = self._read()
        self.begin = self._start[0]
        return self

    def __exit__(self, *_):
        self.span, self.used, others = (after - before for before, after in zip(self._start, self._read()))
        self.end = self.begin + self.span
        self.others = others / self.span / os.cpu_count()


class Sampler:
    """Reads a program's processor time at each of its progress events, so that time and frames belong together."""

    def __init__(self, program):
        self.program = program
        self._samples = []
        self._failure = None
        self._begun = threading.Event()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            while not self._ending.is_set():
                frames = self.program.wait_for("progress")["frames"]
                self._samples.append((time.monotonic(), frames, cpu_seconds(self.program.pid)))
                if frames:
                    self._begun.set()
        except Exception as error:  # told in the thread that can fail
            self._failure = error
            self._begun.set()

    def wait_for_frames(self):
        assert self._begun.wait(40), self.program.report("no frame within 40 s")
        if self._failure:
            raise self._failure

    def end(self):
        self._ending.set()
        self._thread.join(35)
        if self._failure:
            raise self._failure

    def per_frame(self, window, at_least):
        """Milliseconds of processor time a frame."""
        (_, first, before), (_, last, after) = self._ends(window)
        frames = last - first
        if not frames or frames < at_least:
            raise AssertionError(self.program.report(f"only {frames} frames, at least {at_least:.0f} were sent"))
        return (after - before) * 1000 / frames

    def rate(self, window):
        """Frames a second."""
        (begin, first, _), (end, last, _) = self._ends(window)
        return (last - first) / (end - begin)

    def _ends(self, window):
        inside = [sample for sample in self._samples if window.begin <= sample[0] <= window.end]
        assert len(inside) > 1, self.program.report("tells too seldom how far it is")
        return inside[0], inside[-1]


def recorded(recorder, settling, seconds):
    """What a recorder used in a stretch of time once it had frames for `settling` seconds, and its memory then; it ends
    well."""
    sampler = Sampler(recorder)
    sampler.wait_for_frames()
    time.sleep(settling)
    with Window(recorder.pid, [recorder.pid]) as window:
        time.sleep(seconds)
    size = memory(recorder.pid)
    sampler.end()
    recorder.send(signal.SIGTERM)
    assert recorder.finish() == 0, recorder.report("failed")
    return sampler, window, size
