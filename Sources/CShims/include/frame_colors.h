#pragma once
// Samples of luma and chroma that mean something else.
#include <gst/video/video.h>
#include <stdint.h>

/// What is added to the samples of a frame: so many 256ths of the samples themselves, of chroma as far as it is from 128.
/// No sum of them takes more than 16 bits.
typedef struct {
  /// To luma: of itself, of U and of V, and what is the same everywhere.
  int16_t luma[3];
  int16_t luma_offset;
  /// To U: of U and of V.
  int16_t blue[2];
  /// To V: of U and of V.
  int16_t red[2];
} shim_color_change;

/// Writes the frame `from` into `to`, changed so. Both are I420, and mapped, and of one size.
void shim_change_colors(const shim_color_change *change, const GstVideoFrame *from, GstVideoFrame *to);
