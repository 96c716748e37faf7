"""An RTSP server that we did not write, GStreamer's: rtsp_server.py PORT [udp].

It has rtsp://127.0.0.1:PORT/live: H.264, 640x360 at 25 frames a second, and Opus, with `udp` over UDP alone. Run by
Debian's own Python, for which the packages gir1.2-gst-rtsp-server-1.0 and python3-gi are.
"""

import json
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

MEDIA = """( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=640,height=360,framerate=25/1
! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! rtph264pay name=pay0 pt=96
audiotestsrc is-live=true volume=0.3 ! audioconvert ! opusenc ! rtpopuspay name=pay1 pt=97 )"""


def main(port, protocol=None):
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    Gst.init(None)
    factory = GstRtspServer.RTSPMediaFactory.new()
    factory.set_launch(MEDIA)
    factory.set_shared(True)
    if protocol == "udp":
        factory.set_protocols(GstRtsp.RTSPLowerTrans.UDP)
    server = GstRtspServer.RTSPServer.new()
    server.set_address("127.0.0.1")
    server.set_service(port)
    server.get_mount_points().add_factory("/live", factory)
    assert server.attach(None), f"port {port} is in use"
    print(json.dumps({"event": "listening"}), flush=True)
    GLib.MainLoop().run()


main(*sys.argv[1:])
