import Glibc

/// Lets one thread wait until calls that others have begun are over.
///
/// `@unchecked Sendable`: the pthread objects are made for sharing, and the calls are only touched under the mutex.
final class CallBarrier: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Those under way, in the order in which they began.
  private var calls: [(thread: pthread_t, number: UInt64)] = []
  /// The number of the one that began last.
  private var newest: UInt64 = 0

  init() {
    mutex.initialize(to: pthread_mutex_t())
    changed.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
  }

  func enter() {
    pthread_mutex_lock(mutex)
    newest += 1
    calls.append((pthread_self(), newest))
    pthread_mutex_unlock(mutex)
  }

  func leave() {
    pthread_mutex_lock(mutex)
    let own = pthread_self()
    // Of calls within each other the inner one ends first.
    if let index = calls.lastIndex(where: { $0.thread == own }) { calls.remove(at: index) }
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Returns once every call by another thread that was under way when this was called has ended.
  func waitForCallsUnderWay() {
    let own = pthread_self()
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let last = newest
    while calls.contains(where: { $0.thread != own && $0.number <= last }) { pthread_cond_wait(changed, mutex) }
  }
}
