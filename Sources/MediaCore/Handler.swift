/// A closure that is told things, and can be replaced meanwhile; on any thread.
///
/// It stands in a structure of its own: a closure that is itself the value of a `Locked` is wrapped once more by every
/// access, because generic code calls closures in another way, and its calls go deeper each time.
public final class Handler<Argument>: Sendable {
  private struct Body {
    var closure: @Sendable (Argument) -> Void
  }
  private let body: Locked<Body>

  /// - Parameter closure: is told until `set`.
  public init(_ closure: @escaping @Sendable (Argument) -> Void = { _ in }) { body = Locked(Body(closure: closure)) }

  /// Tells `closure` from now on, and the one before no more; a call of that one may still be under way.
  public func set(_ closure: @escaping @Sendable (Argument) -> Void) { body.withLock { $0.closure = closure } }

  /// Calls the closure, outside of any lock.
  public func call(_ argument: Argument) { body.withLock { $0.closure }(argument) }
}
