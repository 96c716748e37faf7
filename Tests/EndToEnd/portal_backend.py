"""A desktop as its portal knows it (org.freedesktop.impl.portal.ScreenCast): portal_backend.py NODE.

Its screen is a node of PipeWire. The portal and PipeWire are real; only whom they ask is not, since a compositor brings
some hundred packages, and a dialog that somebody has to click. Lines of standard input are what the person there does: allow, refuse
or wait once asked, end. Run by Debian's own Python, for which the package python3-gi is.
"""

import json
import subprocess
import sys
import threading

from gi.repository import Gio, GLib

NAME = "org.freedesktop.impl.portal.desktop.mediabridge"
CALL = """<arg type='o' direction='in'/><arg type='o' direction='in'/><arg type='s' direction='in'/>{}
<arg type='a{{sv}}' direction='in'/><arg type='u' direction='out'/><arg type='a{{sv}}' direction='out'/>"""
CASTS = Gio.DBusNodeInfo.new_for_xml(f"""<node><interface name='org.freedesktop.impl.portal.ScreenCast'>
<method name='CreateSession'>{CALL.format("")}</method><method name='SelectSources'>{CALL.format("")}</method>
<method name='Start'>{CALL.format("<arg type='s' direction='in'/>")}</method>
<property name='AvailableSourceTypes' type='u' access='read'/><property name='AvailableCursorModes' type='u' access='read'/>
<property name='version' type='u' access='read'/></interface></node>""").interfaces[0]
SESSION = Gio.DBusNodeInfo.new_for_xml("""<node><interface name='org.freedesktop.impl.portal.Session'>
<method name='Close'/><signal name='Closed'/><property name='version' type='u' access='read'/>
</interface></node>""").interfaces[0]
PROPERTIES = {"AvailableSourceTypes": 3, "AvailableCursorModes": 3, "version": 4}


def tell(event, **more):
    print(json.dumps({"event": event, **more}), flush=True)


class Desktop:
    def __init__(self, screen):
        self._screen, self._answer, self._sessions, self._waiting = screen, "allow", {}, None

    def serve(self, connection, _):
        self._bus = connection
        self._register("/org/freedesktop/portal/desktop", CASTS, self._called, PROPERTIES)

    def _register(self, path, interface, called, properties):
        def read(*arguments):
            return GLib.Variant("u", properties[arguments[4]])

        return self._bus.register_object(path, interface, called, read, None)

    def _called(self, _connection, _sender, _path, _interface, method, parameters, call):
        session, options = parameters[1], parameters[parameters.n_children() - 1]
        if method == "CreateSession":
            self._sessions[session] = self._register(session, SESSION, self._closed, {"version": 1})
        elif method == "SelectSources":
            tell("asked", restored="restore_data" in options, cursor=options.get("cursor_mode"))
        elif self._answer == "wait":
            self._waiting = call
            return
        else:
            return self._start(call)
        call.return_value(GLib.Variant("(ua{sv})", (0, {})))

    def _closed(self, _connection, _sender, path, _interface, _method, _parameters, call):
        call.return_value(None)
        self._bus.unregister_object(self._sessions.pop(path))
        tell("closed")

    def _start(self, call):
        if self._answer == "refuse":
            return call.return_value(GLib.Variant("(ua{sv})", (1, {})))
        results = {
            "streams": GLib.Variant("a(ua{sv})", [(self._node(), {})]),
            "persist_mode": GLib.Variant("u", 1),
            "restore_data": GLib.Variant("(suv)", ("mediabridge", 1, GLib.Variant("s", "the screen"))),
        }
        call.return_value(GLib.Variant("(ua{sv})", (0, results)))

    def _node(self):
        """The number of the node that has the screen."""
        while True:
            known = json.loads(subprocess.run(["pw-dump"], capture_output=True, check=True).stdout)
            found = {one["id"]: (one.get("info") or {}).get("props") or {} for one in known}
            nodes = [node for node, properties in found.items() if properties.get("node.name") == self._screen]
            if nodes:
                return nodes[0]

    def act(self, word):
        if word != "end":
            self._answer = word
            if self._waiting and word != "wait":
                call, self._waiting = self._waiting, None
                self._start(call)
            return
        for session in self._sessions:
            self._bus.emit_signal(None, session, SESSION.name, "Closed", None)


def main(screen):
    desktop = Desktop(screen)
    none = Gio.BusNameOwnerFlags.NONE
    Gio.bus_own_name(Gio.BusType.SESSION, NAME, none, desktop.serve, lambda *_: tell("ready"), None)

    def read():
        for line in sys.stdin:
            GLib.idle_add(desktop.act, line.strip())

    threading.Thread(target=read, daemon=True).start()
    GLib.MainLoop().run()


main(*sys.argv[1:])
