import Dispatch
import MediaCore

/// Carries events to delegates and streams: in order, on one queue, never under a lock.
final class RoomNotifier: Sendable {
  /// `@unchecked Sendable`: only passes a reference on; delegates promise to be called on the notifier's queue.
  private struct Entry: @unchecked Sendable {
    weak var delegate: (any RoomDelegate)?
  }

  private struct State {
    var delegates: [Entry] = []
    var streams: [Int: AsyncStream<RoomEvent>.Continuation] = [:]
    var nextStream = 0
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "mediabridge.room")

  func add(_ delegate: any RoomDelegate) {
    let entry = Entry(delegate: delegate)
    state.withLock { state in
      state.delegates.removeAll { $0.delegate == nil || $0.delegate === entry.delegate }
      state.delegates.append(entry)
    }
  }

  func remove(_ delegate: any RoomDelegate) {
    let identity = ObjectIdentifier(delegate)
    state.withLock { $0.delegates.removeAll { $0.delegate.map(ObjectIdentifier.init) ?? identity == identity } }
  }

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

  func send(_ event: RoomEvent, from room: Room) {
    queue.async { [self] in
      let (delegates, streams) = state.withLock { ($0.delegates, Array($0.streams.values)) }
      for stream in streams { stream.yield(event) }
      for entry in delegates { entry.delegate.map { event.tell($0, of: room) } }
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

extension RoomEvent {
  fileprivate func tell(_ delegate: any RoomDelegate, of room: Room) {
    switch self {
    case .connectionStateChanged(let state, let old): delegate.room(room, didUpdateConnectionState: state, from: old)
    case .connected: delegate.roomDidConnect(room)
    case .disconnected(let error): delegate.room(room, didDisconnectWithError: error)
    case .participantConnected(let participant): delegate.room(room, participantDidConnect: participant)
    case .participantDisconnected(let participant): delegate.room(room, participantDidDisconnect: participant)
    case .trackPublished(let participant, let publication):
      delegate.room(room, participant: participant, didPublishTrack: publication)
    case .trackUnpublished(let participant, let publication):
      delegate.room(room, participant: participant, didUnpublishTrack: publication)
    case .trackSubscribed(let participant, let publication):
      delegate.room(room, participant: participant, didSubscribeTrack: publication)
    case .trackUnsubscribed(let participant, let publication):
      delegate.room(room, participant: participant, didUnsubscribeTrack: publication)
    case .subscriptionFailed(let participant, let sid, let error):
      delegate.room(room, participant: participant, didFailToSubscribeTrackWithSid: sid, error: error)
    case .muteChanged(let participant, let publication, let isMuted):
      delegate.room(room, participant: participant, trackPublication: publication, didUpdateIsMuted: isMuted)
    case .subscriptionAllowedChanged(let participant, let publication, let isAllowed):
      delegate.room(
        room, participant: participant, trackPublication: publication, didUpdateIsSubscriptionAllowed: isAllowed)
    case .streamStateChanged(let participant, let publication, let state):
      delegate.room(room, participant: participant, trackPublication: publication, didUpdateStreamState: state)
    case .dataReceived(let participant, let data, let topic):
      delegate.room(room, participant: participant, didReceiveData: data, forTopic: topic)
    }
  }
}
