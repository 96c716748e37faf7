"""Publishes a real clip with the LiveKit Python SDK, each frame with its number in the clip."""

import asyncio

import publish
import real_clip
from publish_costs import numbered

if __name__ == "__main__":
    arguments = publish.make_parser().parse_args()
    # Drawn before, so that publishing costs the encoder alone.
    frames = numbered()
    arguments.height, arguments.width = frames[0].shape[0] * 2 // 3, frames[0].shape[1]
    show = real_clip.showing(frames, burn=lambda luma, number: None)
    asyncio.run(publish.publish(arguments, show, real_clip.playing(real_clip.samples())))
