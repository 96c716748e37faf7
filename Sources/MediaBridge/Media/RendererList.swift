import MediaCore

/// The renderers of one track, in the order in which they were added, each at most once and held until it is removed.
final class RendererList<Media: Sendable>: Sendable {
  /// `@unchecked Sendable`: the renderer is only handed on, to those who may call it.
  private struct Entry: @unchecked Sendable {
    let renderer: AnyObject
    let queue: RendererQueue<Media>
  }

  private let entries = Locked<[Entry]>([])
  private let limit: Int
  private let patience: Duration

  /// - Parameters:
  ///   - limit: how much may wait for a renderer that is too slow.
  ///   - patience: how long media waits for the main actor at most.
  init(limit: Int, patience: Duration = .milliseconds(100)) {
    self.limit = limit
    self.patience = patience
  }

  /// - Returns: false when it is there already.
  func add(_ renderer: AnyObject, calls: RendererCalls<Media>) -> Bool {
    let queue = RendererQueue(limit: limit, patience: patience, calls: calls)
    let entry = Entry(renderer: renderer, queue: queue)
    return entries.withLock { entries in
      guard !entries.contains(where: { $0.renderer === entry.renderer }) else { return false }
      entries.append(entry)
      return true
    }
  }

  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  /// - Returns: false when it was not there.
  func remove(_ renderer: AnyObject) -> Bool {
    let identity = ObjectIdentifier(renderer)
    let entry = entries.withLock { entries in
      entries.firstIndex { ObjectIdentifier($0.renderer) == identity }.map { entries.remove(at: $0) }
    }
    entry?.queue.close()
    return entry != nil
  }

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  /// The renderers.
  var members: [AnyObject] { entries.withLock { $0 }.map(\.renderer) }

  /// Tells those that want to know whether anything is to be seen.
  func setMuted(_ isMuted: Bool) {
    for renderer in members { (renderer as? any MutedRenderer)?.setMuted(isMuted) }
  }

  /// Tells them that nothing more comes.
  func tellEnd() {
    for renderer in members { (renderer as? any MutedRenderer)?.trackEnded() }
  }

  /// What a renderer was too slow for; nil when it is not there.
  func dropped(of renderer: AnyObject) -> Int? {
    entries.withLock { $0 }.first { $0.renderer === renderer }?.queue.dropped
  }

  func deliver(_ media: Media) {
    for entry in entries.withLock({ $0 }) { entry.queue.deliver(media) }
  }
}
