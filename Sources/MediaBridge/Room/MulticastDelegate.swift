import MediaCore

/// The delegates of a room, a participant, a track or a view: held weakly, each at most once, told in the order in which
/// they were added, on the room's queue or the view's.
public final class MulticastDelegate<Delegate>: Sendable {
  /// `@unchecked Sendable`: only passes a reference on; who is told promises to be told on that queue.
  private struct Entry: @unchecked Sendable {
    let identity: ObjectIdentifier
    weak var object: AnyObject?
  }

  /// No weak reference is read under the lock: that could end the last strong one there, and a `deinit` may call us.
  private let entries = Locked<[Entry]>([])

  package init() {}

  /// Held weakly: somebody else keeps the delegate alive.
  public func add(delegate: Delegate) {
    let object = delegate as AnyObject
    let entry = Entry(identity: ObjectIdentifier(object), object: object)
    let dead = dead()
    entries.withLock { entries in
      entries.removeAll { $0.identity == entry.identity || dead.contains($0.identity) }
      entries.append(entry)
    }
  }

  /// Once a call that is under way has returned, it is told nothing more.
  public func remove(delegate: Delegate) {
    let identity = ObjectIdentifier(delegate as AnyObject)
    entries.withLock { $0.removeAll { $0.identity == identity } }
  }

  package func each(_ body: (Delegate) -> Void) {
    for entry in entries.withLock({ $0 }) {
      if let delegate = entry.object as? Delegate { body(delegate) }
    }
  }

  private func dead() -> Set<ObjectIdentifier> {
    Set(entries.withLock { $0 }.filter { $0.object == nil }.map(\.identity))
  }
}
