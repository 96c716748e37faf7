import Dispatch
import Logging
import MediaCore

/// Carries events to delegates and streams: in order, on one queue, never under a lock.
final class RoomNotifier: Sendable {
  private struct State {
    var streams: [Int: Listener] = [:]
    var nextStream = 0
    var connection = 0
  }

  private struct Listener {
    let continuation: AsyncStream<RoomEvent>.Continuation
    /// It ends with that one.
    let connection: Int
    /// How many events nobody read in time.
    var missed = 0
  }

  /// For a reader who falls behind.
  static let limit = 65_536
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "mediabridge.room")
  private static let key = DispatchSpecificKey<Bool>()

  init() { queue.setSpecific(key: Self.key, value: true) }

  /// Whether the caller is a delegate that is being told something.
  static var isTelling: Bool { DispatchQueue.getSpecific(key: key) ?? false }

  func makeStream() -> AsyncStream<RoomEvent> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RoomEvent.self, bufferingPolicy: .bufferingNewest(Self.limit))
    let id = state.withLock { state in
      defer { state.nextStream += 1 }
      state.streams[state.nextStream] = Listener(continuation: continuation, connection: state.connection)
      return state.nextStream
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.streams.removeValue(forKey: id) } }
    return stream
  }

  /// Tells the streams, then the delegates of the room, of the participant and of the track, whom it concerns.
  func send(_ event: RoomEvent, from room: Room) {
    let connection = state.withLock { $0.connection }
    tell(event, from: room, on: connection)
  }

  private func tell(_ event: RoomEvent, from room: Room, on connection: Int) {
    queue.async { [self] in
      for (id, stream) in listeners(to: connection) {
        if case .dropped = stream.yield(event) { noteMissed(by: id, of: room) }
      }
      event.whileTold {
        room.delegates.each { event.tell($0, of: room) }
        event.tellParticipant()
        event.tell(room.localParticipant)
        event.tellTrack()
      }
    }
  }

  /// Sends what ends a connection, and then ends its streams. Those that are made from now on, by whoever is told these
  /// events at the earliest, are of the next connection.
  func end(with events: [RoomEvent], from room: Room) {
    let connection = state.withLock { state in
      defer { state.connection += 1 }
      return state.connection
    }
    for event in events { tell(event, from: room, on: connection) }
    queue.async { [self] in
      for (_, stream) in listeners(to: connection) { stream.finish() }
    }
  }

  /// Says it at the first one, and then for each that were a whole stream of them.
  private func noteMissed(by id: Int, of room: Room) {
    let missed = state.withLock { state in
      state.streams[id]?.missed += 1
      return state.streams[id]?.missed ?? 0
    }
    guard missed % Self.limit == 1 else { return }
    Loggers(room.options.logger).room.warning(
      "a stream of events is not read, and loses its oldest ones: read it to its end, or let go of it",
      metadata: ["missed": "\(missed)", "kept": "\(Self.limit)"])
  }

  /// Streams that were made before that connection ended. One that is finished forgets itself.
  private func listeners(to connection: Int) -> [(id: Int, stream: AsyncStream<RoomEvent>.Continuation)] {
    state.withLock { state in
      state.streams.filter { $0.value.connection <= connection }.map { (id: $0.key, stream: $0.value.continuation) }
    }
  }
}
