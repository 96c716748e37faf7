#include "CShims.h"
#include <gst/video/gstvideopool.h>
#include <pthread.h>
#include <stdatomic.h>

// Where it is offered a pool, a decoder of libav decodes into the buffers that go downstream, and keeps each mapped for
// writing for as long as later frames refer to it, though it only reads a frame that it has put out. GstVideoDecoder
// (1.22) makes the buffer writable to set its times: a copy of the buffer, which cannot share memory that is mapped for
// writing, so that the samples are copied, too. Memory of this kind is shared all the same.
//
// What one thread writes here others read once GStreamer has handed it on, under locks of GLib's, which the thread
// sanitizer does not see. Hence locks of pthreads, an atomic pointer, and samples that only GStreamer touches.

/// The bytes of a frame, with the number of memories that they belong to.
typedef struct {
  atomic_int users;
  GstMemory *memory;
  GstMapInfo map;
} Block;

typedef struct {
  GstMemory memory;
  _Atomic(Block *) block;
} FrameMemory;

static Block *block_of(GstMemory *memory) {
  return atomic_load_explicit(&((FrameMemory *)memory)->block, memory_order_acquire);
}

/// Blocks that no frame has just now. Fresh ones cost the kernel more than a copy: it clears page after page.
enum { MOST_SPARE = 4 };

typedef struct {
  GstAllocator parent;
  pthread_mutex_t lock;
  Block *spare[MOST_SPARE];
} FrameAllocator;

typedef struct {
  GstAllocatorClass parent_class;
} FrameAllocatorClass;

static GType frame_allocator_get_type(void);
G_DEFINE_TYPE(FrameAllocator, frame_allocator, GST_TYPE_ALLOCATOR)

static void block_free(Block *block) {
  if (!block) return;
  gst_memory_unmap(block->memory, &block->map);
  gst_memory_unref(block->memory);
  g_free(block);
}

static Block *block_new(gsize size, gsize align) {
  GstAllocationParams params = {.align = align};
  GstMemory *memory = gst_allocator_alloc(NULL, size, &params);
  if (!memory) return NULL;
  Block *block = g_new0(Block, 1);
  block->memory = memory;
  gst_memory_map(memory, &block->map, GST_MAP_READWRITE);
  return block;
}

/// A spare block of that size, or NULL. Those of another size go: the format has changed.
static Block *take_spare(FrameAllocator *allocator, gsize size, gsize align) {
  Block *found = NULL;
  pthread_mutex_lock(&allocator->lock);
  for (int i = 0; i < MOST_SPARE && !found; i++) {
    Block *block = g_steal_pointer(&allocator->spare[i]);
    if (block && block->map.size == size && block->memory->align == align) found = block;
    else block_free(block);
  }
  pthread_mutex_unlock(&allocator->lock);
  return found;
}

static void put_spare(FrameAllocator *allocator, Block *block) {
  pthread_mutex_lock(&allocator->lock);
  for (int i = 0; i < MOST_SPARE && block; i++)
    if (!allocator->spare[i]) allocator->spare[i] = g_steal_pointer(&block);
  pthread_mutex_unlock(&allocator->lock);
  block_free(block);
}

static GstMemory *memory_over(
    Block *block, GstAllocator *allocator, GstMemoryFlags flags, gsize align, gsize offset, gsize size) {
  FrameMemory *frame = g_new0(FrameMemory, 1);
  atomic_fetch_add(&block->users, 1);
  atomic_store_explicit(&frame->block, block, memory_order_release);
  gst_memory_init(GST_MEMORY_CAST(frame), flags, allocator, NULL, block->map.size, align, offset, size);
  return GST_MEMORY_CAST(frame);
}

static GstMemory *frame_memory_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params) {
  // 64 bytes: the widest vector that libav asks to be aligned.
  gsize align = params->align | gst_memory_alignment | 63;
  gsize whole = params->prefix + size + params->padding;
  Block *block = take_spare((FrameAllocator *)allocator, whole, align);
  if (!block) block = block_new(whole, align);
  if (!block) return NULL;
  guint8 *bytes = block->map.data;
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED) memset(bytes, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED) memset(bytes + params->prefix + size, 0, params->padding);
  return memory_over(block, allocator, params->flags, align, params->prefix, size);
}

static void frame_memory_free(GstAllocator *allocator, GstMemory *memory) {
  Block *block = block_of(memory);
  if (atomic_fetch_sub(&block->users, 1) == 1) put_spare((FrameAllocator *)allocator, block);
  g_free(memory);
}

static gpointer frame_memory_map(GstMemory *memory, gsize size, GstMapFlags flags) {
  return block_of(memory)->map.data;
}

static void frame_memory_unmap(GstMemory *memory) {}

static gsize length(GstMemory *memory, gssize offset, gssize size) { return size < 0 ? memory->size - offset : size; }

/// Nobody can write into what shares its bytes: who wants to gets a copy.
static GstMemory *frame_memory_share(GstMemory *memory, gssize offset, gssize size) {
  return memory_over(
      block_of(memory), memory->allocator, GST_MEMORY_FLAG_READONLY, memory->align,
      memory->offset + offset, length(memory, offset, size));
}

/// Shares what a decoder holds on to; copies all else.
static GstMemory *frame_memory_copy(GstMemory *memory, gssize offset, gssize size) {
  guint locks = g_atomic_int_get(&GST_MINI_OBJECT_CAST(memory)->lockstate);
  if (!GST_MEMORY_IS_READONLY(memory) && (locks & GST_LOCK_FLAG_WRITE)) return frame_memory_share(memory, offset, size);
  return gst_memory_copy(block_of(memory)->memory, memory->offset + offset, length(memory, offset, size));
}

static void frame_allocator_finalize(GObject *object) {
  FrameAllocator *allocator = (FrameAllocator *)object;
  pthread_mutex_lock(&allocator->lock);
  for (int i = 0; i < MOST_SPARE; i++) block_free(allocator->spare[i]);
  pthread_mutex_unlock(&allocator->lock);
  pthread_mutex_destroy(&allocator->lock);
  G_OBJECT_CLASS(frame_allocator_parent_class)->finalize(object);
}

static void frame_allocator_class_init(FrameAllocatorClass *class) {
  GST_ALLOCATOR_CLASS(class)->alloc = frame_memory_alloc;
  GST_ALLOCATOR_CLASS(class)->free = frame_memory_free;
  G_OBJECT_CLASS(class)->finalize = frame_allocator_finalize;
}

static void frame_allocator_init(FrameAllocator *self) {
  GstAllocator *allocator = GST_ALLOCATOR_CAST(self);
  pthread_mutex_init(&self->lock, NULL);
  allocator->mem_type = "MediaBridgeFrame";
  allocator->mem_map = frame_memory_map;
  allocator->mem_unmap = frame_memory_unmap;
  allocator->mem_copy = frame_memory_copy;
  allocator->mem_share = frame_memory_share;
  GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GstAllocator *shim_frame_allocator_new(void) {
  return gst_object_ref_sink(g_object_new(frame_allocator_get_type(), NULL));
}

static gboolean is_frame_memory(GstMemory *memory) {
  return memory->allocator && G_TYPE_CHECK_INSTANCE_TYPE(memory->allocator, frame_allocator_get_type());
}

gboolean shim_is_frame_memory(GstBuffer *buffer) {
  return gst_buffer_n_memory(buffer) > 0 && is_frame_memory(gst_buffer_peek_memory(buffer, 0));
}

// A pool of such memory that does not decode the next frame into what somebody still reads. It brings its allocator
// itself: one that stands in the query, GstVideoAggregator (1.22) never releases.
typedef struct {
  GstVideoBufferPool parent;
} FramePool;

typedef struct {
  GstVideoBufferPoolClass parent_class;
} FramePoolClass;

static GType frame_pool_get_type(void);
G_DEFINE_TYPE(FramePool, frame_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static gboolean is_shared(GstMemory *memory) {
  return is_frame_memory(memory) && atomic_load(&block_of(memory)->users) > 1;
}

static void frame_pool_release(GstBufferPool *pool, GstBuffer *buffer) {
  // The flag has the pool let go of the buffer, and take a new one next time. GStreamer sets it: where the buffer was
  // another one is made, by whatever thread, behind a lock of GLib's.
  for (guint i = 0; i < gst_buffer_n_memory(buffer); i++)
    if (is_shared(gst_buffer_peek_memory(buffer, i))) gst_buffer_set_flags(buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  GST_BUFFER_POOL_CLASS(frame_pool_parent_class)->release_buffer(pool, buffer);
}

static gboolean frame_pool_set_config(GstBufferPool *pool, GstStructure *config) {
  GstAllocationParams params;
  if (!gst_buffer_pool_config_get_allocator(config, NULL, &params)) gst_allocation_params_init(&params);
  GstAllocator *allocator = shim_frame_allocator_new();
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  gst_object_unref(allocator);
  return GST_BUFFER_POOL_CLASS(frame_pool_parent_class)->set_config(pool, config);
}

static void frame_pool_class_init(FramePoolClass *class) {
  GST_BUFFER_POOL_CLASS(class)->set_config = frame_pool_set_config;
  GST_BUFFER_POOL_CLASS(class)->release_buffer = frame_pool_release;
}

static void frame_pool_init(FramePool *pool) {}

static gboolean is_system_memory(GstCaps *caps) {
  GstCapsFeatures *features = gst_caps_get_features(caps, 0);
  return !features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

gboolean shim_offer_frame_memory(GstQuery *query) {
  GstCaps *caps = NULL;
  GstVideoInfo info;
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return FALSE;
  gst_query_parse_allocation(query, &caps, NULL);
  if (!caps || !is_system_memory(caps) || !gst_video_info_from_caps(&info, caps)) return FALSE;
  GstBufferPool *pool = gst_object_ref_sink(g_object_new(frame_pool_get_type(), NULL));
  gst_query_add_allocation_pool(query, pool, info.size, 0, 0);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref(pool);
  return TRUE;
}
