#pragma once

/// Lets all threads of the process share so many heaps (glibc's arenas). To be called before there are threads.
void shim_set_heap_limit(int heaps);
