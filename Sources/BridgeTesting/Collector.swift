import MediaCore

/// What call-backs on other threads have delivered so far.
public final class Collector<Value: Sendable>: Sendable {
  private let storage = Locked<[Value]>([])
  public init() {}
  public func add(_ value: Value) { storage.withLock { $0.append(value) } }
  public var values: [Value] { storage.withLock { $0 } }
  public var count: Int { storage.withLock { $0.count } }

  /// What a stream brings until it ends.
  /// - Parameter pick: what of it; nil passes over an element.
  public convenience init<Element: Sendable>(
    _ stream: AsyncStream<Element>, _ pick: @escaping @Sendable (Element) -> Value?
  ) {
    self.init()
    Task { for await element in stream { if let value = pick(element) { add(value) } } }
  }
}
