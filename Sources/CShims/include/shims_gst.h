#pragma once
// Macros and variadic functions of GStreamer and GLib that Swift cannot import.
#include <gst/gst.h>
