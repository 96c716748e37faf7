"""Publishes words that espeak-ng says, again and again, with the LiveKit Python SDK."""

import asyncio
import io
import subprocess
import wave

import clip
import numpy as np
import publish

WORDS = ("two", "three", "four", "five")
# Seconds: from one word to the next, and from one first word to the next.
STEP, PERIOD = 0.8, 5


def spoken(word):
    """Samples of `clip.RATE`, from the first that is heard on."""
    said = subprocess.run(("espeak-ng", "-v", "en-us", "--stdout", word), capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(said)) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(1 << 30), np.int16)
    places = np.arange(len(samples) * clip.RATE // rate) * rate / clip.RATE
    heard = np.interp(places, np.arange(len(samples)), samples)
    return heard[np.argmax(np.abs(heard) > 500) :].astype(np.int16)


def sentence():
    samples = np.zeros(PERIOD * clip.RATE, np.int16)
    for number, word in enumerate(WORDS):
        begin, said = round((0.5 + number * STEP) * clip.RATE), spoken(word)
        samples[begin : begin + len(said)] = said
    return samples


if __name__ == "__main__":
    samples = sentence()

    def stretch(first, count):
        return np.repeat(samples[np.arange(first, first + count) % len(samples)], 2)

    asyncio.run(publish.publish(publish.make_parser().parse_args(), stretch=stretch))
