#include "CShims.h"

// GStreamer (1.22) converts between matrices by way of four bytes a pixel: eleven times as slow as this, which is only as
// fast as that because compilers make vectors of its loops. They need to see that no sum leaves 16 bits.

typedef struct {
  const guint8 *from;
  guint8 *to;
} Row;

static Row row(const GstVideoFrame *from, GstVideoFrame *to, int plane, int y) {
  return (Row){
      (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA(from, plane) + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(from, plane),
      (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(to, plane) + (gsize)y * GST_VIDEO_FRAME_PLANE_STRIDE(to, plane)};
}

static inline guint8 changed(gint16 sample, gint16 by) {
  gint16 value = sample + (gint16)(by >> 8);
  return value < 0 ? 0 : value > 255 ? 255 : (guint8)value;
}

/// - Parameter colors: what chroma adds to luma, for each pixel of a row.
static inline __attribute__((always_inline)) void change_luma(
    Row luma, const gint16 *restrict colors, gint16 share, int width) {
  const guint8 *restrict from = luma.from;
  guint8 *restrict to = luma.to;
  for (int x = 0; x < width; x++) to[x] = changed(from[x], (gint16)(from[x] * share + colors[x]));
}

static inline __attribute__((always_inline)) void change_chroma(
    Row blue, Row red, gint16 *restrict colors, const shim_color_change change, int width) {
  const guint8 *restrict from_blue = blue.from, *restrict from_red = red.from;
  guint8 *restrict to_blue = blue.to, *restrict to_red = red.to;
  const gint16 half = 128;
  for (int x = 0; x < width; x++) {
    gint16 u = from_blue[x] - 128, v = from_red[x] - 128;
    to_blue[x] = changed(from_blue[x], (gint16)(u * change.blue[0] + v * change.blue[1] + half));
    to_red[x] = changed(from_red[x], (gint16)(u * change.red[0] + v * change.red[1] + half));
    colors[2 * x] = colors[2 * x + 1] = u * change.luma[1] + v * change.luma[2] + change.luma_offset + half;
  }
}

static inline __attribute__((always_inline)) void change_all(
    const shim_color_change *change, const GstVideoFrame *from, GstVideoFrame *to, gint16 *colors) {
  int width = GST_VIDEO_FRAME_WIDTH(from), height = GST_VIDEO_FRAME_HEIGHT(from);
  for (int y = 0; y < height; y++) {
    if (y % 2 == 0) change_chroma(row(from, to, 1, y / 2), row(from, to, 2, y / 2), colors, *change, (width + 1) / 2);
    change_luma(row(from, to, 0, y), colors, change->luma[0], width);
  }
}

#ifdef __x86_64__
// Three times as fast as what all such processors have.
__attribute__((target("avx2"))) static void change_all_avx2(
    const shim_color_change *change, const GstVideoFrame *from, GstVideoFrame *to, gint16 *colors) {
  change_all(change, from, to, colors);
}
#endif

void shim_change_colors(const shim_color_change *change, const GstVideoFrame *from, GstVideoFrame *to) {
  gint16 *colors = g_new(gint16, GST_VIDEO_FRAME_WIDTH(from) + 1);
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) change_all_avx2(change, from, to, colors);
  else
#endif
    change_all(change, from, to, colors);
  g_free(colors);
}
