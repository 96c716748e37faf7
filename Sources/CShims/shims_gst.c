#define _GNU_SOURCE
#include <pthread.h>

#include "shims_gst.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BUILT_FOR_TSAN 1
#endif
#endif

#ifdef BUILT_FOR_TSAN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void shim_handoff_release(const void *address) { __tsan_release((void *)address); }
void shim_handoff_acquire(const void *address) { __tsan_acquire((void *)address); }
#else
void shim_handoff_release(const void *address) { (void)address; }
void shim_handoff_acquire(const void *address) { (void)address; }
#endif

gboolean shim_is_pipeline(gconstpointer object) { return GST_IS_PIPELINE(object); }
gboolean shim_is_app_src(gconstpointer object) { return GST_IS_APP_SRC(object); }
gboolean shim_is_app_sink(gconstpointer object) { return GST_IS_APP_SINK(object); }

GParamSpec *shim_find_property(gpointer object, const char *name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
}

gboolean shim_get_property(gpointer object, const char *name, GValue *value) {
  GParamSpec *spec = shim_find_property(object, name);
  if (spec == NULL || !(spec->flags & G_PARAM_READABLE)) return FALSE;
  g_value_init(value, spec->value_type);
  g_object_get_property(G_OBJECT(object), name, value);
  return TRUE;
}

gboolean shim_pad_is_request(GstPad *pad) {
  GstPadTemplate *template = GST_PAD_PAD_TEMPLATE(pad);
  return template != NULL && GST_PAD_TEMPLATE_PRESENCE(template) == GST_PAD_REQUEST;
}

GstBuffer *shim_buffer_make_writable(GstBuffer *buffer) { return gst_buffer_make_writable(buffer); }
GstBufferList *shim_buffer_list_make_writable(GstBufferList *list) { return gst_buffer_list_make_writable(list); }

const char *shim_factory_name(GstElement *element) {
  GstElementFactory *factory = gst_element_get_factory(element);
  return factory != NULL ? GST_OBJECT_NAME(factory) : NULL;
}

void shim_name_thread(const char *name) {
  char shortened[16];
  g_strlcpy(shortened, name, sizeof shortened);
  pthread_setname_np(pthread_self(), shortened);
}

gboolean shim_has_defaults(gpointer object, const char *except) {
  gchar **names = g_strsplit(except, ",", -1);
  guint count = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(object), &count);
  gboolean has_defaults = TRUE;
  for (guint i = 0; i < count && has_defaults; i++) {
    if (!(specs[i]->flags & G_PARAM_READABLE) || !(specs[i]->flags & G_PARAM_WRITABLE) ||
        g_strv_contains((const gchar *const *)names, specs[i]->name))
      continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(object), specs[i]->name, &value);
    has_defaults = g_param_value_defaults(specs[i], &value);
    g_value_unset(&value);
  }
  g_free(specs);
  g_strfreev(names);
  return has_defaults;
}

static gboolean is_own(const GParamSpec *spec) {
  static const char *const own[] = {"name", "parent", "caps"};
  for (gsize i = 0; i < G_N_ELEMENTS(own); i++)
    if (g_str_equal(spec->name, own[i])) return TRUE;
  return !(spec->flags & G_PARAM_READABLE) || !(spec->flags & G_PARAM_WRITABLE) ||
         (spec->flags & G_PARAM_CONSTRUCT_ONLY);
}

void shim_copy_properties(gpointer from, gpointer to) {
  guint count = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(from), &count);
  for (guint i = 0; i < count; i++) {
    if (is_own(specs[i])) continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(from), specs[i]->name, &value);
    g_object_set_property(G_OBJECT(to), specs[i]->name, &value);
    g_value_unset(&value);
  }
  g_free(specs);
}

void shim_pad_lock_stream(GstPad *pad) { GST_PAD_STREAM_LOCK(pad); }
void shim_pad_unlock_stream(GstPad *pad) { GST_PAD_STREAM_UNLOCK(pad); }
void shim_lock_state(GstElement *element) { GST_STATE_LOCK(element); }
void shim_unlock_state(GstElement *element) { GST_STATE_UNLOCK(element); }
gboolean shim_is_sticky(GstEvent *event) { return GST_EVENT_IS_STICKY(event); }
