import MediaCore

/// The renderers of one track, in the order in which they were added, each at most once and held until it is removed.
final class RendererList<Media: Sendable>: Sendable {
  private struct Entry {
    let identity: ObjectIdentifier
    let queue: RendererQueue<Media>
  }

  private let entries = Locked<[Entry]>([])
  private let limit: Int

  /// - Parameter limit: how much may wait for a renderer that is too slow.
  init(limit: Int) { self.limit = limit }

  /// - Parameter call: calls the renderer, which it holds.
  /// - Returns: false when it is there already.
  func add(_ renderer: AnyObject, call: @escaping @Sendable (Media) -> Void) -> Bool {
    let entry = Entry(identity: ObjectIdentifier(renderer), queue: RendererQueue(limit: limit, call: call))
    return entries.withLock { entries in
      guard !entries.contains(where: { $0.identity == entry.identity }) else { return false }
      entries.append(entry)
      return true
    }
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  /// - Returns: false when it was not there.
  func remove(_ renderer: AnyObject) -> Bool {
    let queue = entries.withLock { entries in
      entries.firstIndex { $0.identity == ObjectIdentifier(renderer) }.map { entries.remove(at: $0).queue }
    }
    queue?.close()
    return queue != nil
  }

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  /// What a renderer was too slow for; nil when it is not there.
  func dropped(of renderer: AnyObject) -> Int? {
    entries.withLock { $0.first { $0.identity == ObjectIdentifier(renderer) } }?.queue.dropped
  }

  func deliver(_ media: Media) {
    for entry in entries.withLock({ $0 }) { entry.queue.deliver(media) }
  }
}
