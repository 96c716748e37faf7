"""Publishes a real clip with the LiveKit Python SDK, the moment of capture burned into every frame."""

import asyncio

import clockcode
import publish
import real_clip


def burn(luma, number):
    clockcode.burn(luma, number, clockcode.now())


if __name__ == "__main__":
    parser = publish.make_parser()
    parser.add_argument("--soft", action="store_true", help="without detail, so that keyframes cost little")
    arguments = parser.parse_args()
    # Decoded before, so that publishing costs the encoder alone.
    clip = real_clip.frames(detail=(64, 36) if arguments.soft else None)
    arguments.height, arguments.width = clip[0].shape[0] * 2 // 3, clip[0].shape[1]
    asyncio.run(publish.publish(arguments, real_clip.showing(clip, burn)))
