import Dispatch
import MediaCore

/// Carries events to delegates and streams: in order, on one queue, never under a lock.
final class RoomNotifier: Sendable {
  private struct State {
    var streams: [Int: AsyncStream<RoomEvent>.Continuation] = [:]
    var nextStream = 0
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "mediabridge.room")
  private static let key = DispatchSpecificKey<Bool>()

  init() { queue.setSpecific(key: Self.key, value: true) }

  /// Whether the caller is a delegate that is being told something.
  static var isTelling: Bool { DispatchQueue.getSpecific(key: key) ?? false }

  func makeStream() -> AsyncStream<RoomEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: RoomEvent.self)
    let id = state.withLock { state in
      defer { state.nextStream += 1 }
      state.streams[state.nextStream] = continuation
      return state.nextStream
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.streams.removeValue(forKey: id) } }
    return stream
  }

  /// Tells the streams, then the delegates of the room, of the participant and of the track, whom it concerns.
  func send(_ event: RoomEvent, from room: Room) {
    queue.async { [self] in
      for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
      event.whileTold {
        room.delegates.each { event.tell($0, of: room) }
        event.tellParticipant()
        event.tellTrack()
      }
    }
  }

  /// Ends all streams after what was sent before.
  func finish() {
    queue.async { [self] in
      let streams = state.withLock { state in
        defer { state.streams = [:] }
        return Array(state.streams.values)
      }
      for stream in streams { stream.finish() }
    }
  }
}
