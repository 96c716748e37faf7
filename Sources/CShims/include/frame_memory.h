#pragma once
// Frames that their decoder and its consumers read at the same time, without a copy.
#include <gst/gst.h>

/// Answers an ALLOCATION query about raw frames: they may come in any layout that GstVideoMeta describes, and are best
/// decoded into buffers of a pool that is offered here.
/// - Returns: whether it was such a query.
gboolean shim_offer_frame_memory(GstQuery *query);

/// Whether the memory of a buffer comes from such a pool.
gboolean shim_is_frame_memory(GstBuffer *buffer);

/// An allocator of such memory, which belongs to the caller. It keeps what frames of one size have left for the next ones.
GstAllocator *shim_frame_allocator_new(void);
