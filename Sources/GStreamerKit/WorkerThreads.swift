import CShims
import Glibc
import MediaCore

/// A job for another thread.
typealias Job = @Sendable () -> Void

/// Runs jobs one after another on one thread of its own, for as long as the process lives.
///
/// `@unchecked Sendable`: the jobs are only touched between lock and unlock of `mutex`.
final class SerialThread: @unchecked Sendable {
  /// Delivers the bus messages of all pipelines: a hundred pipelines need no hundred threads.
  static let bus = SerialThread(name: "gst-bus")

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [Job] = []

  private init(name: String) {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
    startThread(name: name) { self.run() }
  }

  func post(_ job: @escaping Job) {
    pthread_mutex_lock(mutex)
    jobs.append(job)
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }

  private func run() -> Never {
    while true {
      for job in waitForJobs() { job() }
    }
  }

  private func waitForJobs() -> [Job] {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while jobs.isEmpty { pthread_cond_wait(condition, mutex) }
    defer { jobs = [] }
    return jobs
  }
}

private final class ThreadStart {
  let name: String
  let body: Job
  init(name: String, body: @escaping Job) {
    self.name = name
    self.body = body
  }

  func run() {
    shim_name_thread(name)
    body()
  }
}

/// Starts a detached thread that runs `body` and ends.
func startThread(name: String, _ body: @escaping Job) {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  var thread = pthread_t()
  let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
  let failed = pthread_create(
    &thread, &attributes,
    { argument in
      if let argument { Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run() }
      return nil
    }, start.toOpaque())
  guard failed == 0 else {
    // Without memory for a thread the work is still to be done; here is better than never.
    start.takeRetainedValue().body()
    return
  }
}
