"""How late frames were, and which never came."""

from dataclasses import dataclass

import numpy as np

FREEZE_MS = 200


@dataclass
class Latency:
    p50: float
    p95: float
    """Share of the numbered frames that came."""
    delivered: float
    freezes: int

    COLUMNS = {}

    @classmethod
    def of(cls, program, skip):
        """Ends the program and takes what it tells of its frames, without the first `skip` seconds."""
        program.stop()
        program.finish()
        told = next((event for event in program.events if event["event"] == "clock"), None)
        assert told, program.report("told nothing of its frames")
        # Ours tells more of each.
        frames = [frame[:3] for frame in told["frames"]]
        numbers, captured, rendered = np.array(frames, dtype=np.int64).reshape(-1, 3).T
        late = rendered - rendered[:1] > skip * 1e6
        numbers, captured, rendered = numbers[late], captured[late], rendered[late]
        assert len(numbers) > 100, program.report(f"only {len(numbers)} frames, {told['unreadable']} unreadable")
        sent = int((numbers[-1] - numbers[0]) % 65536) + 1
        delay = (rendered - captured) / 1000
        return cls(
            p50=float(np.percentile(delay, 50)), p95=float(np.percentile(delay, 95)),
            delivered=(len(set(numbers.tolist())) + told["unreadable"]) / sent * 100,
            freezes=int((np.diff(rendered) > FREEZE_MS * 1000).sum()),
        )  # fmt: skip


Latency.COLUMNS = {
    "latency p50, ms": lambda latency: latency.p50,
    "latency p95, ms": lambda latency: latency.p95,
    "frames delivered, %": lambda latency: latency.delivered,
    f"freezes over {FREEZE_MS} ms": lambda latency: latency.freezes,
}
