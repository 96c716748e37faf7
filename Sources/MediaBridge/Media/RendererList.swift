import MediaCore

/// The renderers of one track, in the order in which they were added, each at most once.
///
/// A call-out holds no lock: it works on the list as it was, and `remove` waits for the calls under way, so that none
/// comes after it returned (unless a renderer removes itself from within its own call, which may not wait for itself).
final class RendererList<Renderer>: Sendable {
  /// `@unchecked Sendable`: the protocols promise calls on media threads, so a renderer's author owns its safety.
  private struct Entry: @unchecked Sendable {
    let renderer: Renderer
    let identity: ObjectIdentifier
  }

  private struct State {
    var entries: [Entry] = []
  }

  private let state = Locked(State())
  private let calling = CallGate()

  /// True when this is the first renderer.
  func add(_ renderer: Renderer) -> Bool {
    let entry = Entry(renderer: renderer, identity: ObjectIdentifier(renderer as AnyObject))
    return state.withLock { state in
      guard !state.entries.contains(where: { $0.identity == entry.identity }) else { return false }
      state.entries.append(entry)
      return state.entries.count == 1
    }
  }

  /// True when it was there and the last one.
  func remove(_ renderer: Renderer) -> Bool {
    let identity = ObjectIdentifier(renderer as AnyObject)
    let (found, empty) = state.withLock { state in
      let before = state.entries.count
      state.entries.removeAll { $0.identity == identity }
      return (state.entries.count < before, state.entries.isEmpty)
    }
    if found { calling.waitForCallsUnderWay() }
    return found && empty
  }

  var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  func callEach(_ body: (Renderer) -> Void) {
    calling.enter()
    defer { calling.leave() }
    for entry in state.withLock({ $0.entries }) { body(entry.renderer) }
  }
}
