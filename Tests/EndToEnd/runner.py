"""`mediabridge run` with its file."""

import json
import time

import checks
from programs import mediabridge

SIZE = (320, 180)
# Whoever joins with an identity that is there already puts the other one out: jobs of a room share its session.
KEYS = {"identity": "recorder", "api-key": "${env:KEY}", "api-secret": "${env:SECRET}"}


class Runner:
    """A process of `run` with its file."""

    def __init__(self, begin, server, folder):
        self._begin, self.server, self.folder, self.file = begin, server, folder, folder / "room.yaml"
        self.program = None

    def write(self, jobs, rooms=("one",), more=None, **options):
        """JSON is YAML; `more` stands beside rooms and jobs, and an option that is None does not stand there.

        A destination is a file's name in the folder, -, a socket or an object.
        """
        access = {"url": self.server.url, **KEYS}
        jobs = {name: {**job, **self._places(job)} for name, job in jobs.items()}
        rooms = {name: {**access, "room": name, **options} for name in rooms}
        rooms = {name: {key: value for key, value in room.items() if value is not None} for name, room in rooms.items()}
        whole = {"rooms": rooms, "jobs": jobs, **(more or {})}
        self.replace(json.dumps(whole, indent=1))

    def _places(self, job):
        places = {key: job.get(key, "-") for key in ("destination", "info")}
        places = {key: place for key, place in places.items() if place != "-" and not place.startswith("unix:")}
        places = {key: str(self.folder / place) for key, place in places.items()}
        if "destinations" in job:
            named = job["destinations"]
            places["destinations"] = [place if isinstance(place, dict) else str(self.folder / place) for place in named]
        return places

    def replace(self, text, file=None):
        """As editors do it: nobody reads half of it."""
        file = file or self.file
        fresh = file.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(file)

    @property
    def command(self):
        return self.server.enter("env", "KEY=devkey", "SECRET=secret", *mediabridge("run", "--json", self.file))

    def start(self):
        self.program = self._begin(self.command)
        return self.program

    def wait(self, holds, timeout=60):
        """Until that holds of what was told."""
        deadline = time.monotonic() + timeout
        while not holds():
            self.program.next(deadline - time.monotonic(), "what is waited for")

    def of(self, job, name):
        return [event for event in self.program.events if event.get("job") == job and event["event"] == name]

    def until(self, job, place, seconds):
        """Waits until as much is recorded of a job, in a file of that name."""
        def is_recorded(status):
            return status["file"].endswith(f"/{place}") and status["duration"] >= seconds

        self.wait(lambda: any(is_recorded(one) for event in self.of(job, "progress") for one in event["destinations"]))

    def until_finished(self, job, *places):
        files = {str(self.folder / place) for place in places}
        self.wait(lambda: files <= {event["file"] for event in self.of(job, "finished")})


def assert_whole(file, seconds):
    assert checks.decode_errors(file) == [] and checks.disorder(file) == []
    assert min(checks.durations(file).values()) >= seconds, f"{file.name}: {checks.durations(file)}"


def assert_without_gap(file):
    numbers = [number for number, _, _ in checks.numbered(file, SIZE) if number is not None]
    steps = [after - before for before, after in zip(numbers, numbers[1:])]
    # A publisher on a busy machine leaves out single frames; what begins anew leaves out a second.
    assert min(steps) >= 1 and max(steps) <= 10, f"{file.name}: {steps}"
    assert steps.count(1) >= 0.9 * len(steps), f"{file.name}: {steps}"
