import MediaCore

/// What the renderers of one track need, as far as it is known. Their properties belong to the main actor, for which
/// nothing here waits: until it has had the time, a new renderer counts as one that needs everything.
final class RendererDemands: Sendable {
  /// `@unchecked Sendable`: the renderer is only asked on the main actor.
  private struct Entry: @unchecked Sendable {
    let renderer: any VideoRenderer
    var demand: TrackDemand?
  }

  private let entries = Locked<[ObjectIdentifier: Entry]>([:])

  func add(_ renderer: any VideoRenderer) {
    entries.withLock { $0[ObjectIdentifier(renderer)] = Entry(renderer: renderer) }
  }

  func remove(_ renderer: any VideoRenderer) {
    // The last reference may end here, and a `deinit` may call us.
    _ = entries.withLock { $0.removeValue(forKey: ObjectIdentifier(renderer)) }
  }

  /// Those are the renderers now; of who stays, what is known stays known. Not from two threads at once.
  func keep(to renderers: [any VideoRenderer]) {
    let wanted = Set(renderers.map(ObjectIdentifier.init))
    let known = entries.withLock { $0 }
    for (id, entry) in known where !wanted.contains(id) { remove(entry.renderer) }
    for renderer in renderers where known[ObjectIdentifier(renderer)] == nil { add(renderer) }
  }

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  /// What serves all of them.
  var combined: TrackDemand {
    entries.withLock { entries in
      entries.values.reduce(TrackDemand.nothing) { $0 + ($1.demand ?? .everything) }
    }
  }

  /// Asks the renderers anew.
  /// - Returns: whether `combined` may have changed.
  @MainActor func read() -> Bool {
    let read = entries.withLock { $0 }.mapValues { TrackDemand(of: $0.renderer) }
    return entries.withLock { entries in
      var isNews = false
      for (id, demand) in read where entries[id] != nil && entries[id]?.demand != demand {
        entries[id]?.demand = demand
        isNews = true
      }
      return isNews
    }
  }
}
