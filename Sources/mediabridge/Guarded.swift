import Foundation

/// A value behind a lock.
///
/// `@unchecked Sendable`: the value is only touched between lock and unlock.
final class Guarded<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func read<R>(_ body: (Value) -> R) -> R { lock.withLock { body(value) } }
  @discardableResult
  func change<R>(_ body: (inout Value) -> R) -> R { lock.withLock { body(&value) } }
}
