#define _GNU_SOURCE
#include "shims_process.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void shim_set_heap_limit(int heaps) { mallopt(M_ARENA_MAX, heaps); }

int shim_usable_processors(void) {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
}

// At the end of the process OpenSSL would take apart what threads that still run may be using. Only who sets it up first
// can say so, and elements of GStreamer use it, too.
__attribute__((constructor)) static void keep_openssl(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

static int read_loaded(struct dl_phdr_info *library, size_t size, void *loaded) {
  *(unsigned long long *)loaded = library->dlpi_adds;
  return 1;
}

unsigned long long shim_loaded_libraries(void) {
  unsigned long long loaded = 0;
  dl_iterate_phdr(read_loaded, &loaded);
  return loaded;
}

/// Whether the loader writes into code (DT_TEXTREL), which the file does not have then.
static bool has_written_code(const struct dl_phdr_info *library, const ElfW(Phdr) *segment) {
  if (segment->p_type != PT_DYNAMIC) return false;
  const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(library->dlpi_addr + segment->p_vaddr);
  for (; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL))) return true;
  }
  return false;
}

/// The loader's lock is held meanwhile, so that no library goes away.
static int release_library(struct dl_phdr_info *library, size_t size, void *data) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < library->dlpi_phnum; i++) {
    if (has_written_code(library, &library->dlpi_phdr[i])) return 0;
  }
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    // Nobody can have written to the others: what the loader fills in is in a writable segment, also when it is
    // protected afterwards.
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
    const uintptr_t start = library->dlpi_addr + segment->p_vaddr, end = start + segment->p_filesz;
    const uintptr_t first = start & -page;
    madvise((void *)first, ((end + page - 1) & -page) - first, MADV_DONTNEED);
  }
  return 0;
}

static bool is_debugged(void) {
  char status[4096] = "";
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t count = read(file, status, sizeof status - 1);
  close(file);
  const char *tracer = count > 0 ? strstr(status, "TracerPid:\t") : NULL;
  return tracer && strncmp(tracer, "TracerPid:\t0\n", 13) != 0;
}

void shim_release_code(void) {
  if (!is_debugged()) dl_iterate_phdr(release_library, NULL);
}

int shim_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
