import Glibc

/// Lets one thread wait until calls that others have begun are over.
///
/// `@unchecked Sendable`: the pthread objects are made for sharing, and the counts are only touched under the mutex.
final class CallBarrier: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var callers: [pthread_t] = []
  private var finished: UInt64 = 0

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
    callers.append(pthread_self())
    pthread_mutex_unlock(mutex)
  }

  func leave() {
    pthread_mutex_lock(mutex)
    if let index = callers.firstIndex(of: pthread_self()) { callers.remove(at: index) }
    finished &+= 1
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Returns once every call by another thread that was under way when this was called has ended.
  func waitForCallsUnderWay() {
    let own = pthread_self()
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let target = finished &+ UInt64(callers.filter { $0 != own }.count)
    while callers.contains(where: { $0 != own }), finished < target { pthread_cond_wait(changed, mutex) }
  }
}
