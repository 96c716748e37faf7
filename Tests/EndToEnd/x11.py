"""A desktop without a screen, and what a person does to its windows, without a window manager.

x11.py serve WIDTHxHEIGHT | list | wander | resize ID WIDTH HEIGHT | close ID | destroy ID

Run by Debian's own Python, for which the package python3-xlib is.
"""

import os
import signal
import sys
import time

from Xlib import X, display
from Xlib.protocol import event

PROTOCOLS, DELETE = "WM_PROTOCOLS", "WM_DELETE_WINDOW"


def windows(screen):
    """ID, width, height and name of each window that is seen."""
    for window in screen.root.query_tree().children:
        if window.get_attributes().map_state == X.IsViewable:
            shape = window.get_geometry()
            yield window.id, shape.width, shape.height, window.get_wm_name() or ""


def serve(size):
    """Becomes an X server that writes the number of its display, which is one that was free."""
    # Whoever starts this may have signals blocked, and the server is to end when it is told to.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # A server that resets itself whenever its last client goes drops those who connect meanwhile.
    options = ("-displayfd", "1", "-screen", "0", f"{size}x24", "-ac", "-noreset", "-nolisten", "tcp")
    os.execvp("Xvfb", ("Xvfb", *options))


def wander(server):
    """A white window of 80 x 80 that goes from left to right, again and again: it is at (x, 100 + x/2)."""
    screen = server.screen()
    window = screen.root.create_window(0, 100, 80, 80, 0, screen.root_depth, background_pixel=screen.white_pixel)
    window.map()
    server.sync()
    print('{"event": "shown", "window": %d}' % window.id, flush=True)
    x = 0
    while True:
        time.sleep(0.1)
        x = (x + 20) % 800
        window.configure(x=x, y=100 + x // 2)
        server.sync()


def main(action, *numbers):
    if action == "serve":
        serve(*numbers)
    server = display.Display()
    if action == "wander":
        wander(server)
    if action == "list":
        for found in windows(server.screen()):
            print(*found)
        return
    window = server.create_resource_object("window", int(numbers[0]))
    if action == "resize":
        window.configure(width=int(numbers[1]), height=int(numbers[2]))
    elif action == "close":
        data = (32, [server.intern_atom(DELETE), X.CurrentTime, 0, 0, 0])
        window.send_event(event.ClientMessage(window=window, client_type=server.intern_atom(PROTOCOLS), data=data))
    elif action == "destroy":
        window.destroy()
    else:
        raise SystemExit(f"x11.py: unknown action {action}")
    server.sync()


main(*sys.argv[1:])
