#pragma once
// Macros and variadic functions of GStreamer and GLib that Swift cannot import.
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>

/// `GST_CLOCK_TIME_NONE`.
GstClockTime shim_clock_time_none(void);

GstClockTime shim_buffer_pts(GstBuffer *buffer);
GstClockTime shim_buffer_dts(GstBuffer *buffer);
GstClockTime shim_buffer_duration(GstBuffer *buffer);
void shim_buffer_set_times(GstBuffer *buffer, GstClockTime pts, GstClockTime dts, GstClockTime duration);
guint shim_buffer_flags(GstBuffer *buffer);
void shim_buffer_set_discont(GstBuffer *buffer);

/// A new buffer over the same memory.
GstBuffer *shim_buffer_share(GstBuffer *buffer);

GstMessageType shim_message_type(GstMessage *message);
/// Name of the element that sent the message, or NULL; free with g_free.
gchar *shim_message_source_name(GstMessage *message);

/// The probe's buffer made writable, or NULL when the probe carries none.
GstBuffer *shim_probe_writable_buffer(GstPadProbeInfo *info);
/// The probe's buffer list made writable, or NULL.
GstBufferList *shim_probe_writable_list(GstPadProbeInfo *info);
/// True for an upstream request for a keyframe.
gboolean shim_probe_is_keyframe_request(GstPadProbeInfo *info);

/// The pad of this name, or NULL; unref it.
GstPad *shim_static_pad(GstElement *element, const char *name);
/// Makes the pipeline run on the monotonic system clock with base time zero.
void shim_use_monotonic_time(GstElement *pipeline);
/// Configures an appsrc as a live source of timestamped buffers.
void shim_configure_appsrc(GstElement *appsrc);
GstAppSrc *shim_app_src(GstElement *element);
GstAppSink *shim_app_sink(GstElement *element);
gboolean shim_is_app_src(GstElement *element);
gboolean shim_is_app_sink(GstElement *element);
GstBin *shim_bin(GstElement *element);
gint shim_frame_stride(const GstVideoFrame *frame, guint plane);
gint shim_frame_plane_height(const GstVideoFrame *frame, guint plane);
guint8 *shim_frame_plane(const GstVideoFrame *frame, guint plane);
guint shim_frame_planes(const GstVideoFrame *frame);
gboolean shim_frame_map(GstVideoFrame *frame, GstVideoInfo *info, GstBuffer *buffer);
