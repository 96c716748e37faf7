#include "CShims.h"

typedef struct {
  guint8 *bytes;
  int stride, width, height;
} Plane;

static Plane plane(const GstVideoFrame *frame, int index) {
  return (Plane){
      GST_VIDEO_FRAME_PLANE_DATA(frame, index), GST_VIDEO_FRAME_PLANE_STRIDE(frame, index),
      GST_VIDEO_FRAME_COMP_WIDTH(frame, index), GST_VIDEO_FRAME_COMP_HEIGHT(frame, index)};
}

static inline int clamped(int value, int count) { return value < 0 ? 0 : value >= count ? count - 1 : value; }

/// Black where there is nothing under the frame.
static inline guint8 sample(const Plane *under, int x, int y, guint8 black) {
  if (!under->bytes) return black;
  return under->bytes[(gsize)clamped(y, under->height) * under->stride + clamped(x, under->width)];
}

static void round_plane(Plane to, const guint8 *mask, int radius, Plane under, int left, int top, guint8 black) {
  for (int row = 0; row < 2 * radius; row++) {
    int y = row < radius ? row : to.height - 2 * radius + row;
    const guint8 *shares = mask + (gsize)(row < radius ? row : 2 * radius - 1 - row) * radius;
    for (int column = 0; column < 2 * radius; column++) {
      int share = shares[column < radius ? column : 2 * radius - 1 - column];
      if (share == 255) continue;
      int x = column < radius ? column : to.width - 2 * radius + column;
      guint8 *pixel = to.bytes + (gsize)y * to.stride + x;
      *pixel = (guint8)((*pixel * share + sample(&under, left + x, top + y, black) * (255 - share) + 127) / 255);
    }
  }
}

void shim_round_corners(
    const GstVideoFrame *frame, const shim_corner_mask *mask, const GstVideoFrame *under, int x, int y) {
  for (int index = 0; index < 3; index++) {
    int is_chroma = index > 0;
    round_plane(
        plane(frame, index), is_chroma ? mask->chroma : mask->luma, is_chroma ? mask->chroma_radius : mask->luma_radius,
        under ? plane(under, index) : (Plane){0}, is_chroma ? x / 2 : x, is_chroma ? y / 2 : y, is_chroma ? 128 : 16);
  }
}
