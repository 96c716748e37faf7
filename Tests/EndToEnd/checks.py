"""What must be true of a recorded file, measured with tools that are not ours (FFmpeg)."""

import json
import subprocess

import av
import clip
import numpy as np

# In samples.
MILLISECOND = clip.RATE // 1000

def packets(file):
    """Times in seconds of the packets in file order: {"video": [(pts, dts, duration), …], "audio": …}."""
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_entries"]
    command += ["packet=codec_type,pts_time,dts_time,duration_time", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    streams = {}
    for packet in json.loads(said).get("packets", []):
        times = [packet.get(key) for key in ("pts_time", "dts_time", "duration_time")]
        pts, dts, duration = (None if time is None else float(time) for time in times)
        streams.setdefault(packet["codec_type"], []).append((pts, dts, duration or 0.0))
    return streams


def keyframes(file):
    """Times in seconds of the video's keyframes."""
    command = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0"]
    said = subprocess.run([*command, str(file)], capture_output=True, text=True, check=True).stdout
    return [float(line.split(",")[0]) for line in said.splitlines() if "K" in line]


def codecs(file):
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=codec_type,codec_name", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {stream["codec_type"]: stream["codec_name"] for stream in json.loads(said)["streams"]}


def colors(file):
    """What players are told of the colours of the frames: matrix, primaries and transfer."""
    command = ["ffprobe", "-v", "error", "-of", "json", "-select_streams", "v", "-show_entries"]
    command += ["stream=color_space,color_primaries,color_transfer", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return set(json.loads(said)["streams"][0].values())


def sizes(file):
    """Width and height of every frame that differs from the others."""
    with av.open(str(file)) as container:
        return {(frame.width, frame.height) for frame in container.decode(video=0)}


def durations(file):
    """Seconds that each kind of stream covers, from its first frame or audio to the end of its last."""
    return {kind: end - begin for kind, (begin, end) in spans(file).items()}


def spans(file):
    """When the first frame or audio of each kind of stream begins, and when its last ends, in seconds."""
    found = {}
    for kind, times in packets(file).items():
        shown = sorted(pts for pts, _, _ in times if pts is not None)
        last = times[-1][2] or (shown[-1] - shown[-2] if len(shown) > 1 else 0)
        found[kind] = (shown[0], shown[-1] + last)
    return found


def length(file):
    """Seconds that the file says it lasts, which players show."""
    with av.open(str(file)) as container:
        return container.duration / av.time_base


def shown_after_seeking(file, seconds):
    """The time of the frame that a player begins with when it is sent to that time."""
    with av.open(str(file)) as container:
        container.seek(int(seconds * av.time_base))
        return next(container.decode(video=0)).time


def disorder(file):
    """Places where decoding time goes back or stands still, or a packet has no time."""
    wrong = []
    for kind, times in packets(file).items():
        # Matroska stores no decoding time; FFmpeg leaves it open on the first packets of some codecs.
        decoding = [dts if dts is not None else pts for pts, dts, _ in times]
        if None in decoding:
            wrong.append(f"{kind}: a packet without time")
            continue
        wrong += [f"{kind}: {a:.3f} then {b:.3f}" for a, b in zip(decoding, decoding[1:]) if b <= a]
    return wrong


def decode_errors(file):
    """What FFmpeg complains of when it decodes everything; empty when the file is whole."""
    command = ["ffmpeg", "-v", "error", "-nostdin", "-err_detect", "explode+crccheck", "-i", str(file)]
    # Times stay as they are: fitted to a frame rate, two frames close together would count as an error.
    command += ["-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "null", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    return lines if done.returncode == 0 else [*lines, f"ffmpeg ended with {done.returncode}"]


def frames(file, size=None, anew=False):
    """(seconds, luma as height x width of 0…255) of every frame, brought to `size` (width, height) if given.

    `anew` is for what was received over several connections, each of which has times of its own: of what comes before its
    first keyframe a decoder that knows the one before makes something else.
    """
    with av.open(str(file)) as container:
        newest, is_whole = 0, True
        for frame in container.decode(video=0):
            if anew:
                is_whole = bool(frame.key_frame) or is_whole and frame.time >= newest
                newest = frame.time
                if not is_whole:
                    continue
            shown = frame
            if size and (frame.width, frame.height) != size:
                shown = frame.reformat(*size, interpolation="AREA")
            plane = shown.planes[0]
            luma = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
            yield frame.time, luma


def numbered(file, size=None, anew=False):
    """(number or None, seconds, luma) of every frame."""
    return [(clip.read(luma), time, luma.copy()) for time, luma in frames(file, size, anew)]


def similarity(first, second):
    """SSIM of two luma frames over windows of 8x8 (Wang et al. 2004, equation 13)."""
    height, width = (first.shape[0] // 8 * 8, first.shape[1] // 8 * 8)
    blocks = [
        frame[:height, :width].astype(np.float64).reshape(height // 8, 8, width // 8, 8)
        for frame in (first, second)
    ]
    mean_a, mean_b = (block.mean(axis=(1, 3)) for block in blocks)
    spread_a, spread_b = (block.var(axis=(1, 3)) for block in blocks)
    together = (blocks[0] * blocks[1]).mean(axis=(1, 3)) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    above = (2 * mean_a * mean_b + c1) * (2 * together + c2)
    below = (mean_a**2 + mean_b**2 + c1) * (spread_a + spread_b + c2)
    return float((above / below).mean())


def source_luma(number, width, height, fps):
    """The luma that a publisher's encoder gets: gray of full range brought to video range (BT.601)."""
    gray = clip.draw(number, width, height, fps).astype(np.float64)
    return 16 + gray * 219 / 255


def similarities(frames, fps):
    """SSIM of each frame whose number could be read with the source frame of that number."""
    return [
        similarity(luma, source_luma(number, luma.shape[1], luma.shape[0], fps))
        for number, _, luma in frames
        if number is not None
    ]


def title(file):
    """What the file is called, wherever its name does not say."""
    with av.open(str(file)) as container:
        return {key.lower(): value for key, value in container.metadata.items()}.get("title")


def titles(file):
    """What each track of audio is called."""
    with av.open(str(file)) as container:
        return [{**stream.metadata}.get("TITLE", "") for stream in container.streams.audio]


def audio_frames(container, track=0):
    """Decoded by libopus where it is Opus: ffmpeg's own decoder clicks when the sender changes between SILK and CELT."""
    stream = container.streams.audio[track]
    if stream.codec_context.name != "opus":
        yield from container.decode(stream)
        return
    decoder = av.CodecContext.create("libopus", "r")
    decoder.extradata = stream.codec_context.extradata
    decoder.sample_rate = stream.codec_context.sample_rate
    decoder.layout = stream.codec_context.layout
    for packet in container.demux(stream):
        for frame in decoder.decode(packet):
            frame.time_base = frame.time_base or packet.time_base
            yield frame


def audio(file, track=0):
    """(seconds at the first sample, samples of one channel at 48 kHz, -1…1); gaps are silence."""
    pieces = []
    resampler = av.AudioResampler(format="flt", layout="mono", rate=clip.RATE)
    with av.open(str(file)) as container:
        for frame in audio_frames(container, track):
            # The time is kept by hand: each piece goes to its place, whatever the resampler holds back.
            time = frame.time
            for piece in resampler.resample(frame):
                pieces.append((time, piece.to_ndarray().ravel()))
    first = pieces[0][0]
    samples = np.zeros(max(round((time - first) * clip.RATE) + len(piece) for time, piece in pieces) + MILLISECOND, np.float32)
    end = 0
    for time, piece in pieces:
        place = round((time - first) * clip.RATE)
        # Some files count milliseconds, of which no whole number is a frame of AAC.
        place = end if abs(place - end) <= MILLISECOND else place
        end = place + len(piece)
        samples[place:end] = piece
    return first, samples[:end]


def level(samples):
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2)))


def frequency(samples):
    """The strongest frequency in Hz."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * clip.RATE / len(samples))


def beeps(first, samples):
    """Seconds at which a beep begins: loud after 300 ms of quiet."""
    window = clip.RATE // 1000
    count = len(samples) // window
    loudness = np.sqrt((samples[: count * window].reshape(count, window).astype(np.float64) ** 2).mean(axis=1))
    threshold = loudness.max() / 4
    begins, last_loud = [], None
    for index in np.nonzero(loudness > max(threshold, 1e-4))[0]:
        if (index if last_loud is None else index - last_loud) > 300:
            begins.append(first + index / 1000)
        last_loud = index
    return begins


def beeps_of(first, samples, frequency):
    """(seconds at which a beep begins, its amplitude) of each beep of 100 ms at that frequency, whatever others do."""
    window = clip.RATE // 40  # keeps voices apart whose frequencies differ by a multiple of 40 Hz
    turned = samples * np.exp(-2j * np.pi * frequency / clip.RATE * np.arange(len(samples)))
    sums = np.concatenate([[0], np.cumsum(turned)])
    amplitude = 2 * np.abs(sums[window:] - sums[:-window]) / window
    # Half of it lies in the window when the beep begins in its middle.
    loud = amplitude > np.percentile(amplitude, 99) / 2
    begins, ends = (np.nonzero(loud[1:] & ~loud[:-1])[0] + 1, np.nonzero(~loud[1:] & loud[:-1])[0] + 1)
    pairs = [(begin, end) for begin in begins for end in ends[ends > begin][:1] if end - begin > clip.RATE // 20]
    return [(first + (begin + window / 2) / clip.RATE, float(np.median(amplitude[begin:end]))) for begin, end in pairs]


def flashes(frames, fps):
    """Seconds at which a flash begins, of those whose first frame is there."""
    return [time for number, time, luma in frames if number is not None and number % fps == 0 and luma.mean() > 180]


def flash_offsets(frames, fps, first, samples):
    """For each flash the seconds by which the nearest beep comes later."""
    heard = beeps(first, samples)
    end = first + len(samples) / clip.RATE
    # At the edges of a recording one of the two may lie outside.
    seen = [time for time in flashes(frames, fps) if first + 0.4 < time < end - 0.4]
    assert heard and seen, f"no event to compare: {len(seen)} flashes, {len(heard)} beeps"
    return [min((beep - flash for beep in heard), key=abs) for flash in seen]
