"""Publishes a real clip with the LiveKit Python SDK, a client that we did not write."""

import asyncio

import publish
import real_clip

if __name__ == "__main__":
    arguments = publish.make_parser().parse_args()
    frames = real_clip.frames((arguments.width, arguments.height))
    audio = real_clip.playing(real_clip.samples())
    asyncio.run(publish.publish(arguments, real_clip.showing(frames), audio))
