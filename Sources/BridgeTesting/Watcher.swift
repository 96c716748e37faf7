public import LiveKitProtocol
public import MediaBridge

/// A room with synthetic participants, and somebody of ours in it.
public struct Watcher: Sendable {
  public static let identity = "watcher"

  public let synthetic: SyntheticRoom
  public let room: Room
  /// What the server was told of tracks, so far.
  public let told: Collector<Livekit_UpdateTrackSettings>
  /// All that it was asked for.
  public let asked: Collector<Livekit_SignalRequest>

  /// Joins a room of its own as "watcher", and leaves it after `body`, also when that throws.
  /// - Parameters:
  ///   - codecs: of the participants' frames, by identity.
  ///   - frequencies: of the participants' tones, as `SyntheticRoom` has them.
  ///   - delegate: is there before the join.
  ///   - events: gets what happens in the room from the join to the end; it keeps the tracks that these name.
  public static func run(
    _ options: RoomOptions = RoomOptions(), codecs: [String: String] = ["alice": "vp8"],
    frequencies: [String: Int] = [:], delegate: (any RoomDelegate)? = nil, events: Collector<RoomEvent>? = nil,
    _ body: (Watcher) async throws -> Void
  ) async throws {
    let told = Collector<Livekit_UpdateTrackSettings>()
    let asked = Collector<Livekit_SignalRequest>()
    let synthetic = try await SyntheticRoom.start(codecs: codecs, frequencies: frequencies) { identity, request in
      guard identity == Self.identity else { return }
      asked.add(request)
      if case .trackSetting(let settings) = request.message { told.add(settings) }
    }
    let room = delegate.map { Room(delegate: $0, roomOptions: options) } ?? Room(roomOptions: options)
    let reader = events.map { record(room.events, in: $0) }
    let outcome: Result<Void, any Error>
    do {
      try await room.connect(url: synthetic.url, token: try SyntheticRoom.token(Self.identity))
      try await body(Watcher(synthetic: synthetic, room: room, told: told, asked: asked))
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    await room.disconnect()
    await reader?.value
    await synthetic.stop()
    try outcome.get()
  }

  private static func record(_ events: AsyncStream<RoomEvent>, in collector: Collector<RoomEvent>) -> Task<Void, Never>
  {
    Task { for await event in events { collector.add(event) } }
  }

  /// Lets the server say something to us.
  public func tell(_ fill: (inout Livekit_SignalResponse) -> Void) {
    var response = Livekit_SignalResponse()
    fill(&response)
    synthetic.server.tell(response, to: Self.identity)
  }

  /// Waits until the participant's camera is subscribed to.
  public func camera(of identity: String = "alice") async throws -> RemoteTrackPublication {
    try await eventually("the camera of \(identity)") {
      room.remoteParticipants[identity]?.videoTracks.first { $0.isSubscribed }
    }
  }

  /// Waits until the participant's microphone is subscribed to.
  public func microphone(of identity: String = "alice") async throws -> RemoteTrackPublication {
    try await eventually("the microphone of \(identity)") {
      room.remoteParticipants[identity]?.audioTracks.first { $0.isSubscribed }
    }
  }

  /// Waits until both tracks of the participant are subscribed to.
  public func tracks(of identity: String = "alice") async throws -> (RemoteVideoTrack, RemoteAudioTrack) {
    let (camera, microphone) = (try await camera(of: identity), try await microphone(of: identity))
    return (
      try await eventually("frames") { camera.track as? RemoteVideoTrack },
      try await eventually("audio") { microphone.track as? RemoteAudioTrack }
    )
  }
}

extension RoomEvent {
  /// Why frames stop (-) or go on (+); nil for what is something else.
  public var videoChange: String? {
    switch self {
    case .videoDisabled(_, _, let reason): "-\(reason)"
    case .videoEnabled(_, _, let reason): "+\(reason)"
    default: nil
    }
  }
}
