#pragma once

/// Lets all threads of the process share so many heaps (glibc's arenas). To be called before there are threads.
void shim_set_heap_limit(int heaps);

/// On how many processors this process may run, by its affinity, as a container sets it; 1 where that is not known.
int shim_usable_processors(void);

/// How many libraries this process has loaded in its life.
unsigned long long shim_loaded_libraries(void);

/// Gives the code and constants of the program and its libraries back to the page cache that they came from; what is
/// needed comes back page by page. Does nothing under a debugger, whose breakpoints would go with it.
void shim_release_code(void);

/// The descriptor of a file in memory, which is closed in programs that are run; -1 with `errno` where there is none.
int shim_memory_file(const char *name);
