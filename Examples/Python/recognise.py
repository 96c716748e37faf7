"""Writes down what is said: reads s16le samples of 16 kHz on standard input, prints a JSON line for each stretch of speech,
with the times of its words. Words as arguments are all that can be said then, and are understood better.

    mediabridge pcm --room my-room --rate 16000 | python3 recognise.py
    mediabridge pcm --room my-room --rate 16000 | python3 recognise.py yes no maybe
    mediabridge pcm --room my-room --rate 16000 --exec 'python3 recognise.py' --reply data

Needs no network: apt-get install python3-pocketsphinx pocketsphinx-en-us
"""

import array
import json
import sys

from pocketsphinx import Decoder

MODEL = "/usr/share/pocketsphinx/model/en-us"
RATE, BLOCK = 16_000, 1_600
# Of 32,768: what is louder is speech. So many blocks of silence end it, and as many of those before it are kept.
LOUD, PAUSE = 300, 5

config = Decoder.default_config()
files = [("-hmm", "en-us"), ("-dict", "cmudict-en-us.dict")] + ([] if sys.argv[1:] else [("-lm", "en-us.lm.bin")])
for name, file in files:
    config.set_string(name, f"{MODEL}/{file}")
config.set_string("-logfn", "/dev/null")
# Silence that is left out would make the times of words wrong.
config.set_boolean("-remove_silence", False)
decoder = Decoder(config)
# The binding would complain on standard output that it cannot free it.
config.this.disown()
if sys.argv[1:]:
    decoder.set_jsgf_string("words", f"#JSGF V1.0; grammar words; public <words> = ({' | '.join(sys.argv[1:])})+;")
    decoder.set_search("words")


def recognise(blocks, begin):
    """Prints the words of some blocks of samples, of which the first is so many seconds after the beginning."""
    decoder.start_utt()
    decoder.process_raw(b"".join(blocks), False, True)
    decoder.end_utt()
    # "word(2)" is another way to say it; <sil> and [NOISE] are no words. A frame takes 10 ms.
    parts = [part for part in decoder.seg() if part.word[0] not in "<[("]
    words = [
        {
            "word": part.word.split("(")[0],
            "start": round(begin + part.start_frame / 100, 2),
            "end": round(begin + (part.end_frame + 1) / 100, 2),
        }
        for part in parts
    ]
    if words:
        print(json.dumps({"topic": "captions", "text": " ".join(word["word"] for word in words), "words": words}), flush=True)


blocks, number, quiet = [], 0, PAUSE
while len(block := sys.stdin.buffer.read(2 * BLOCK)) == 2 * BLOCK:
    blocks.append(block)
    number += 1
    samples = array.array("h", block)
    is_loud = sum(map(abs, samples)) / len(samples) > LOUD
    if quiet < PAUSE and not is_loud and quiet + 1 == PAUSE:
        recognise(blocks, (number - len(blocks)) * BLOCK / RATE)
    quiet = 0 if is_loud else quiet + 1
    if quiet >= PAUSE:
        blocks = blocks[-PAUSE:]
if quiet < PAUSE:
    recognise(blocks, (number - len(blocks)) * BLOCK / RATE)
