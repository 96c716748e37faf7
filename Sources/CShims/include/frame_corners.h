#pragma once
#include <gst/video/video.h>

/// The share of a frame, 0 to 255, in each pixel of its upper left corner, row by row; the other corners mirror it.
typedef struct {
  const guint8 *luma;
  int luma_radius;
  const guint8 *chroma;
  int chroma_radius;
} shim_corner_mask;

/// Lays what is under a frame over its corners. Both are of I420.
/// - Parameters:
///   - frame: mapped for writing, no smaller than two corners.
///   - under: NULL for black.
///   - x, y: where the frame lies in it, in pixels.
void shim_round_corners(
    const GstVideoFrame *frame, const shim_corner_mask *mask, const GstVideoFrame *under, int x, int y);
