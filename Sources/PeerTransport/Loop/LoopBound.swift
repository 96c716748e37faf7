/// A value that lives on one loop's thread and is checked to stay there.
///
/// `@unchecked Sendable`: the reference may travel, the value is reached only on the loop; anything else is our bug
/// and traps.
public final class LoopBound<Value>: @unchecked Sendable {
  /// Where the value lives.
  public let loop: TransportLoop
  private var stored: Value

  /// May be made on any thread.
  public init(_ value: Value, on loop: TransportLoop) {
    stored = value
    self.loop = loop
  }

  /// Traps on another thread than the loop's.
  public var value: Value {
    get {
      precondition(loop.isCurrent, "touched off its loop")
      return stored
    }
    set {
      precondition(loop.isCurrent, "touched off its loop")
      stored = newValue
    }
  }
}

/// A weak reference as a value, for jobs of a loop that shall not keep their object alive.
public struct Weak<Object: AnyObject> {
  /// Nil once nobody holds it any more.
  public weak var object: Object?
  /// Does not hold it.
  public init(_ object: Object) { self.object = object }
}
