"""Transcribes what another participant says, and chats, with the LiveKit Python SDK, as each line of standard input asks:
in each of the ways in which agents do."""

import asyncio
import json
import os
import sys

import publish
from livekit import rtc
from livekit.rtc._ffi_client import FfiClient
from livekit.rtc._proto import ffi_pb2


def tell(event, **what):
    print(json.dumps({"event": event, **what}), flush=True)


class Transcriber:
    def __init__(self, room, speaker, source):
        self._room, self._speaker, self._source = room, speaker, source

    @property
    def _me(self):
        return self._room.local_participant

    async def _track(self):
        """The SID of the track that is transcribed."""
        while True:
            speaker = self._room.remote_participants.get(self._speaker)
            for publication in speaker.track_publications.values() if speaker else ():
                if publication.source == self._source:
                    return publication.sid
            await asyncio.sleep(0.05)

    async def _attributes(self, segment, final):
        return {
            "lk.segment_id": segment,
            "lk.transcribed_track_id": await self._track(),
            "lk.transcription_final": "true" if final else "false",
        }

    async def interim(self, segment, text):
        await self._me.send_text(text, topic="lk.transcription", attributes=await self._attributes(segment, False))

    async def final(self, segment, text):
        await self._me.send_text(text, topic="lk.transcription", attributes=await self._attributes(segment, True))

    async def plain(self, text):
        await self._me.send_text(text, topic="lk.transcription")

    async def in_their_name(self, text):
        """As agents may: the server keeps the name where the text begins, and nowhere else."""
        writer = await self._me.stream_text(topic="lk.transcription", sender_identity=self._speaker)
        await writer.write(text)
        await writer.aclose()

    async def grow(self, segment, *pieces):
        writer = await self._me.stream_text(
            topic="lk.transcription", attributes=await self._attributes(segment, False)
        )
        for piece in pieces:
            await writer.write(piece)
        await writer.aclose(attributes={"lk.transcription_final": "true"})

    async def older(self, *segments):
        """LiveKit's message for it, before there were streams."""
        said = [
            rtc.TranscriptionSegment(id=id, text=text, start_time=start, end_time=end, language="en", final=final)
            for id, text, start, end, final in segments
        ]
        await self._me.publish_transcription(rtc.Transcription(self._speaker, await self._track(), said))

    async def chat(self, text):
        await self._me.send_text(text, topic="lk.chat")

    async def older_chat(self, text):
        """The message that the SDK has without a method of its own."""
        request = ffi_pb2.FfiRequest()
        request.send_chat_message.local_participant_handle = self._me._ffi_handle.handle
        request.send_chat_message.message = text
        queue = FfiClient.instance.queue.subscribe()
        try:
            asked = FfiClient.instance.request(request).send_chat_message.async_id
            await queue.wait_for(lambda event: event.chat_message.async_id == asked)
        finally:
            FfiClient.instance.queue.unsubscribe(queue)


async def main():
    parser = publish.make_parser()
    parser.add_argument("--speaker", default="alice")
    parser.add_argument("--source", default="microphone", choices=["microphone", "camera"])
    arguments = parser.parse_args()
    room = rtc.Room()
    await room.connect(arguments.url, publish.token(arguments, arguments.identity, is_agent=True))
    sources = {"microphone": rtc.TrackSource.SOURCE_MICROPHONE, "camera": rtc.TrackSource.SOURCE_CAMERA}
    transcriber = Transcriber(room, arguments.speaker, sources[arguments.source])
    tell("published")
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        for action, values in json.loads(line).items():
            await getattr(transcriber, action)(*values)
        tell("said")
    await room.disconnect()


asyncio.run(main())
# At the interpreter's end threads of the SDK panic now and then, which aborts the program after all is told.
os._exit(0)
