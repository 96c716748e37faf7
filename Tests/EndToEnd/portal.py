"""A desktop whose screen is seen by way of its portal only, as with Wayland, and the person who sits there."""

import contextlib
import shutil
import tempfile
import time
from pathlib import Path

from programs import FOLDER

# No services of this machine's desktops.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={bus}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""
PORTAL = """[portal]
DBusName=org.freedesktop.impl.portal.desktop.mediabridge
Interfaces=org.freedesktop.impl.portal.ScreenCast;
UseIn=mediabridge
"""
# Bars with snow below them.
SCREEN = """context.spa-libs = { videotestsrc = videotestsrc/libspa-videotestsrc }
context.objects = [ { factory = spa-node-factory
  args = { factory.name = videotestsrc, node.name = screen, media.class = Video/Source } } ]
"""


@contextlib.contextmanager
def desktop(start):
    """The program that stands for the person (see `portal_backend.py`), NAME=VALUE for whoever is at that desktop, and
    PipeWire."""
    # A socket's path is short.
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    try:
        environment = (
            f"XDG_RUNTIME_DIR={folder}", f"DBUS_SESSION_BUS_ADDRESS=unix:path={folder}/bus", "WAYLAND_DISPLAY=wayland-7",
            f"XDG_DESKTOP_PORTAL_DIR={folder}", "XDG_CURRENT_DESKTOP=mediabridge", f"XDG_CONFIG_HOME={folder}",
        )
        (folder / "bus.conf").write_text(BUS.format(bus=folder / "bus"))
        (folder / "pipewire/pipewire.conf.d").mkdir(parents=True)
        (folder / "pipewire/pipewire.conf.d/screen.conf").write_text(SCREEN)
        (folder / "mediabridge.portal").write_text(PORTAL)
        start(("dbus-daemon", f"--config-file={folder / 'bus.conf'}", "--nofork", "--nopidfile"))
        pipewire = start(("env", *environment, "pipewire"))
        wait_for(folder / "bus", folder / "pipewire-0")
        start(("env", *environment, "wireplumber"))
        person = start(("env", *environment, "/usr/bin/python3", FOLDER / "portal_backend.py", "screen"))
        person.wait_for("ready")
        start(("env", *environment, "/usr/libexec/xdg-desktop-portal"))
        yield person, environment, pipewire
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(*sockets):
    deadline = time.monotonic() + 10
    while not all(socket.exists() for socket in sockets):
        assert time.monotonic() < deadline, "no D-Bus or no PipeWire: apt-get install dbus pipewire"
        time.sleep(0.05)
