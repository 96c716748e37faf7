import MediaCore

/// Where renderers say that their size or visibility has changed, and connections hear it.
enum AdaptiveStreamBell {
  private static let listeners = Locked<[ObjectIdentifier: @Sendable () -> Void]>([:])

  /// - Parameter listener: called on whatever thread rings, until `owner` is removed.
  static func add(_ owner: AnyObject, _ listener: @escaping @Sendable () -> Void) {
    listeners.withLock { $0[ObjectIdentifier(owner)] = listener }
  }

  static func remove(_ owner: AnyObject) {
    _ = listeners.withLock { $0.removeValue(forKey: ObjectIdentifier(owner)) }
  }

  static func ring() {
    for listener in listeners.withLock({ Array($0.values) }) { listener() }
  }
}
