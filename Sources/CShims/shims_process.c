#include "shims_process.h"

#include <malloc.h>

void shim_set_heap_limit(int heaps) { mallopt(M_ARENA_MAX, heaps); }
