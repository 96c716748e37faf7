public import Glibc

/// A value behind a mutex.
///
/// The standard library's `Mutex` waits on a futex that the thread sanitizer cannot see, so every contended use of
/// it is reported as a race; a pthread mutex is understood, and the sanitizer run is part of our tests.
///
/// `@unchecked Sendable`: the value is only ever touched between lock and unlock, and enters as `sending`.
public final class Locked<Value>: @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline var value: Value

  /// - Parameter value: from now on reached through the lock only.
  public init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let result = pthread_mutex_init(mutex, nil)
    precondition(result == 0, "pthread_mutex_init failed: \(result)")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the value. Decide in here and act outside: nothing that calls out, blocks or takes another lock.
  ///
  /// Inlinable, because it is on the way of every packet, where the unspecialised form costs more than the lock.
  @inlinable @inline(__always)
  public func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}

extension Locked {
  /// Sets a part of the value.
  /// - Returns: whether it was another one before.
  public func set<Part: Equatable & Sendable>(_ part: any WritableKeyPath<Value, Part> & Sendable, to new: Part) -> Bool
  {
    withLock { value in
      let isNews = value[keyPath: part] != new
      value[keyPath: part] = new
      return isNews
    }
  }
}
