import MediaBridge
import MediaCore

/// Wakes a task that waits. Rings that nobody waited for are heard at the next wait, as one.
final class Bell: Sendable {
  private let rings: AsyncStream<Void>
  private let ringer: AsyncStream<Void>.Continuation

  init() { (rings, ringer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  /// From any thread.
  func ring() { ringer.yield() }

  /// Returns when it rings, at `time`, or when the task is cancelled. For one task at a time.
  func wait(until time: MediaTime?) async {
    let timer = time.map { time in
      Task {
        try? await Task.sleep(for: max(.zero, time - .now))
        if !Task.isCancelled { ring() }
      }
    }
    defer { timer?.cancel() }
    for await _ in rings { return }
  }

  /// Rings for what changes who is in the room and what comes of them, and when the room is left.
  func ring(for events: AsyncStream<RoomEvent>) -> Task<Void, Never> {
    Task {
      for await event in events where event.changesMedia { ring() }
      ring()
    }
  }
}

extension RoomEvent {
  fileprivate var changesMedia: Bool {
    switch self {
    case .participantConnected, .participantDisconnected, .trackPublished, .trackUnpublished, .trackSubscribed,
      .trackUnsubscribed, .codecChanged, .muteChanged, .subscriptionAllowedChanged, .subscriptionFailed,
      .streamRestored, .reconnected:
      true
    default: false
    }
  }
}
