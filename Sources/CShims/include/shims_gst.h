#pragma once
// Macros and variadic functions of GStreamer and GLib that Swift cannot import.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

// Tell the thread sanitizer that what happened before `shim_handoff_release(x)` happened before what follows
// `shim_handoff_acquire(x)`. GLib's locks, through which such a hand-over really goes, are invisible to it. Without the
// sanitizer both do nothing. Not inline: only this module's own sources know whether they are built for the sanitizer.
void shim_handoff_release(const void *address);
void shim_handoff_acquire(const void *address);

gboolean shim_is_pipeline(gconstpointer object);
gboolean shim_is_app_src(gconstpointer object);
gboolean shim_is_app_sink(gconstpointer object);

/// The specification of a property, or NULL when the object has none of that name.
GParamSpec *shim_find_property(gpointer object, const char *name);
/// Reads a property into `value`, which is to be zeroed before and unset afterwards.
gboolean shim_get_property(gpointer object, const char *name, GValue *value);
gboolean shim_pad_is_request(GstPad *pad);
GstBuffer *shim_buffer_make_writable(GstBuffer *buffer);
GstBufferList *shim_buffer_list_make_writable(GstBufferList *list);
/// The factory name of an element ("vp8dec"), or NULL.
const char *shim_factory_name(GstElement *element);
/// Names the calling thread; the kernel keeps 15 bytes.
void shim_name_thread(const char *name);
/// Gives `to` every property of `from` that can be read and written, apart from the name, the parent and the caps.
void shim_copy_properties(gpointer from, gpointer to);
/// Whether every property that can be read and written has its default value, apart from those that `except` names, with
/// commas between them.
gboolean shim_has_defaults(gpointer object, const char *except);

/// Holds up what streams into a pad, which waits meanwhile.
void shim_pad_lock_stream(GstPad *pad);
void shim_pad_unlock_stream(GstPad *pad);
/// Keeps the state of an element, and so of what is in a bin, from being changed by others.
void shim_lock_state(GstElement *element);
void shim_unlock_state(GstElement *element);
/// Whether an event holds for all that follows it.
gboolean shim_is_sticky(GstEvent *event);
