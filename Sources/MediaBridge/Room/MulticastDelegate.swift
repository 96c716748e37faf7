import MediaCore

/// The delegates of a room, a participant or a track: held weakly, each at most once, told in the order in which they
/// were added, on the room's queue.
public final class MulticastDelegate<Delegate>: Sendable {
  /// `@unchecked Sendable`: only passes a reference on; who is told promises to be told on the room's queue.
  private struct Entry: @unchecked Sendable {
    weak var object: AnyObject?
  }

  private let entries = Locked<[Entry]>([])

  init() {}

  /// Held weakly: somebody else keeps the delegate alive.
  public func add(delegate: Delegate) {
    let entry = Entry(object: delegate as AnyObject)
    entries.withLock { entries in
      entries.removeAll { $0.object == nil || $0.object === entry.object }
      entries.append(entry)
    }
  }

  public func remove(delegate: Delegate) {
    let identity = ObjectIdentifier(delegate as AnyObject)
    entries.withLock { $0.removeAll { $0.object.map(ObjectIdentifier.init) ?? identity == identity } }
  }

  func each(_ body: (Delegate) -> Void) {
    for entry in entries.withLock({ $0 }) {
      if let delegate = entry.object as? Delegate { body(delegate) }
    }
  }
}
