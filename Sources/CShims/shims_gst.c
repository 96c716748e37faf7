#include "shims_gst.h"

GstClockTime shim_clock_time_none(void) { return GST_CLOCK_TIME_NONE; }

GstClockTime shim_buffer_pts(GstBuffer *buffer) { return GST_BUFFER_PTS(buffer); }
GstClockTime shim_buffer_dts(GstBuffer *buffer) { return GST_BUFFER_DTS(buffer); }
GstClockTime shim_buffer_duration(GstBuffer *buffer) { return GST_BUFFER_DURATION(buffer); }

void shim_buffer_set_times(GstBuffer *buffer, GstClockTime pts, GstClockTime dts, GstClockTime duration) {
  GST_BUFFER_PTS(buffer) = pts;
  GST_BUFFER_DTS(buffer) = dts;
  GST_BUFFER_DURATION(buffer) = duration;
}

guint shim_buffer_flags(GstBuffer *buffer) { return GST_BUFFER_FLAGS(buffer); }
void shim_buffer_set_discont(GstBuffer *buffer) { GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT); }

GstBuffer *shim_buffer_share(GstBuffer *buffer) {
  return gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 0, -1);
}

GstMessageType shim_message_type(GstMessage *message) { return GST_MESSAGE_TYPE(message); }

gchar *shim_message_source_name(GstMessage *message) {
  GstObject *source = GST_MESSAGE_SRC(message);
  return source ? gst_object_get_name(source) : NULL;
}

GstBuffer *shim_probe_writable_buffer(GstPadProbeInfo *info) {
  if (!(GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER)) return NULL;
  GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  return buffer;
}

GstBufferList *shim_probe_writable_list(GstPadProbeInfo *info) {
  if (!(GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER_LIST)) return NULL;
  GstBufferList *list = gst_buffer_list_make_writable(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
  GST_PAD_PROBE_INFO_DATA(info) = list;
  return list;
}

gboolean shim_probe_is_keyframe_request(GstPadProbeInfo *info) {
  if (!(GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_UPSTREAM)) return FALSE;
  return gst_video_event_is_force_key_unit(GST_PAD_PROBE_INFO_EVENT(info));
}

GstPad *shim_static_pad(GstElement *element, const char *name) { return gst_element_get_static_pad(element, name); }

void shim_use_monotonic_time(GstElement *pipeline) {
  GstClock *clock = gst_system_clock_obtain();
  gst_pipeline_use_clock(GST_PIPELINE(pipeline), clock);
  gst_object_unref(clock);
  gst_element_set_start_time(pipeline, GST_CLOCK_TIME_NONE);
  gst_element_set_base_time(pipeline, 0);
}

void shim_configure_appsrc(GstElement *appsrc) {
  g_object_set(appsrc, "format", GST_FORMAT_TIME, "is-live", TRUE, "do-timestamp", FALSE, "emit-signals", FALSE, NULL);
}

GstAppSrc *shim_app_src(GstElement *element) { return GST_APP_SRC(element); }
GstAppSink *shim_app_sink(GstElement *element) { return GST_APP_SINK(element); }
gboolean shim_is_app_src(GstElement *element) { return GST_IS_APP_SRC(element); }
gboolean shim_is_app_sink(GstElement *element) { return GST_IS_APP_SINK(element); }
GstBin *shim_bin(GstElement *element) { return GST_BIN(element); }

gint shim_frame_stride(const GstVideoFrame *frame, guint plane) { return GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane); }
gint shim_frame_plane_height(const GstVideoFrame *frame, guint plane) {
  gint component[GST_VIDEO_MAX_COMPONENTS];
  gst_video_format_info_component(frame->info.finfo, plane, component);
  return GST_VIDEO_FRAME_COMP_HEIGHT(frame, component[0]);
}
guint8 *shim_frame_plane(const GstVideoFrame *frame, guint plane) { return GST_VIDEO_FRAME_PLANE_DATA(frame, plane); }
guint shim_frame_planes(const GstVideoFrame *frame) { return GST_VIDEO_FRAME_N_PLANES(frame); }
gboolean shim_frame_map(GstVideoFrame *frame, GstVideoInfo *info, GstBuffer *buffer) {
  return gst_video_frame_map(frame, info, buffer, GST_MAP_READ);
}
