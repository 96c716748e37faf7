#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A network that tells people from what is around them. One call at a time.
typedef struct segmentation segmentation;

/// What the network takes: an image of `width` x `height` in RGB, one plane after the other, each sample less `mean` and
/// then times `scale`.
typedef struct {
  int width;
  int height;
  double mean;
  double scale;
} segmentation_input;

/// Reads a model in ONNX. NULL where that fails; `reason` has `size` bytes for why.
segmentation *segmentation_new(const char *model, segmentation_input input, char *reason, size_t size);

/// Blurs what is no person in a frame in I420, in place. It is laid out as GStreamer does by default: rows begin at
/// multiples of four bytes, and the first plane has an even number of them.
/// - detail: what is blurred shows as much as a frame that is so many pixels wide.
/// Returns 0, or -1 and the reason.
int segmentation_blur(
    segmentation *network, uint8_t *frame, int width, int height, int detail, char *reason, size_t size);

void segmentation_free(segmentation *network);

#ifdef __cplusplus
}
#endif
