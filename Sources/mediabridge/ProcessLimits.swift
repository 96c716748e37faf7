import CShims
import Foundation
import NIOCore

/// Has a standard descriptor that whoever began this program closed be /dev/null: what is opened next would be it, and be
/// written what the program tells. To be called before anything is opened.
func holdStandardDescriptors() {
  var descriptor = open("/dev/null", O_RDWR)
  while (0...STDERR_FILENO).contains(descriptor) { descriptor = open("/dev/null", O_RDWR) }
  if descriptor >= 0 { close(descriptor) }
}

/// How many descriptors this process may have open.
enum DescriptorLimit {
  /// What it was before it was raised as far as it may be, which the first who asks does; nil where it was as high.
  ///
  /// A participant who is recorded takes some ten, and whoever begins programs grants 1024 as a rule. That is for those
  /// that wait by `select`, which knows no others: commands have what they would have without this program.
  static let before: rlim_t? = {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return nil }
    let before = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    return setrlimit(resource, &limit) == 0 ? before : nil
  }()
}

/// Lets many participants be recorded in one process. To be called before any command is run.
func raiseDescriptorLimit() { _ = DescriptorLimit.before }

/// Lets all threads share two heaps. glibc gives threads that allocate at the same time up to eight for each processor,
/// and what is free in one is of no use to the others: with 25 tracks that was a tenth of all memory. Threads keep small
/// pieces for themselves anyway, so that they hardly meet; in that room no cost could be measured. To be called before
/// there are any.
func shareHeaps() { shim_set_heap_limit(2) }

/// Lets all sockets of signalling share one thread. NIO makes one for each processor, with 200 kB, and there is one
/// socket. To be called before there is any.
func shareSocketThread() { NIOSingletons.groupLoopCountSuggestion = 1 }

/// Has OpenCV, which `faceblur` loads, write nothing to standard error: that of Debian 12 complains of a path of its own.
/// To be called before there are threads.
func silenceOpenCV() { setenv("OPENCV_LOG_LEVEL", "SILENT", 0) }
