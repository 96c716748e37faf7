import MediaCore

/// A stream of video or audio.
///
/// `@unchecked Sendable`: subclasses add only constants and `Locked` values, like this class.
public class Track: @unchecked Sendable {
  struct State {
    var sid: Sid?
    var isMuted: Bool
    var trackState = TrackState.stopped
    /// Of a track of this process: whether the first frame is waited for, muted or not.
    var awaitsFirst = false
    var dimensions: Dimensions?
    var reporting = TrackReporting()
  }

  /// Another one after the track has gone over to a new session of the room; nil before a track of this process is published.
  public var sid: Sid? { state.withLock { $0.sid } }
  /// As its publisher named it, such as ``cameraName``; may be empty.
  public let name: String
  /// Video or audio.
  public let kind: Kind
  /// What its publisher captures.
  public let source: Source
  let state: Locked<State>
  /// Nil of a track of this process, which nothing feeds.
  private let received: Locked<Received?>
  /// What feeds the track, and what was counted before it did.
  typealias Received = (media: TrackMedia, earlier: MediaCounts)
  /// When nothing more comes: of a remote track, when it is unsubscribed.
  let end = TrackEnd()
  /// Told what happens to this track, after the room's and the participant's delegates.
  public let delegates = MulticastDelegate<any TrackDelegate>()

  /// A track of another participant.
  init(media: TrackMedia, kind: Kind, info: TrackInfo) {
    name = info.name
    self.kind = kind
    source = info.source
    received = Locked((media, MediaCounts()))
    state = Locked(State(sid: info.sid, isMuted: info.isMuted, dimensions: kind == .video ? info.dimensions : nil))
  }

  /// A track of this process.
  init(name: String, kind: Kind, source: Source) {
    (self.name, self.kind, self.source) = (name, kind, source)
    received = Locked(nil)
    state = Locked(State(sid: nil, isMuted: false))
  }

  /// What feeds the track, and what was counted before it did.
  var reception: Received? { received.withLock { $0 } }
  var incoming: TrackMedia? { reception?.media }

  /// Goes on with the media of another session, or in another codec, after that of before was closed.
  func resume(with new: TrackMedia) {
    let counts = incoming?.counts
    received.withLock { received in
      if let counts { received?.earlier.add(counts) }
      received?.media = new
    }
    let reporter = state.withLock { state in
      state.sid = new.trackSid
      return state.reporting.reporter
    }
    needsChanged()
    reporter?.follow(self)
  }

  /// Whether its publisher, or the server for it, has muted it.
  public var isMuted: Bool { state.withLock { $0.isMuted } }
  /// Whether it is received, or captured: between `start()` and `stop()`.
  public var trackState: TrackState { state.withLock { $0.trackState } }

  /// Shows or plays again what `stop()` had stopped. A remote track starts by itself when it is subscribed.
  /// - Throws: `invalidState` when it is not subscribed any more.
  public func start() async throws { try change(to: .started) }

  /// Stops video or audio until `start()`: nothing is decoded, and with adaptive stream nothing is received. The
  /// subscription and the renderers stay.
  /// - Throws: `invalidState` when it is not subscribed any more.
  public func stop() async throws { try change(to: .stopped) }

  private func change(to new: TrackState) throws {
    guard !end.hasCome else {
      throw LiveKitError(.invalidState, "track \(name) has ended; subscribe to its publication for a new one")
    }
    if state.set(\.trackState, to: new) { needsChanged() }
  }

  /// Whether it is started, or who shows or hears it, is another than before: brings what decodes it into line with
  /// that, and tells the connection.
  func needsChanged() {}
  /// Whether it is muted or has ended is another than before.
  func mutingChanged() {}
  /// Size of the frames that arrive, or the published size before the first; of a local track that of the frames that
  /// are captured, and nil before the first. Nil for audio.
  public var dimensions: Dimensions? { state.withLock { $0.dimensions } }
  /// What is needed of it, by those who show or hear it.
  var demand: TrackDemand { .everything }
  /// Whether there are renderers to ask.
  var isRendered: Bool { false }
  /// Asks the renderers anew what they need.
  /// - Returns: whether `demand` may have changed.
  @MainActor func readDemands() -> Bool { false }

  /// The newest frame of a video track that is shown; nil of audio.
  public var videoFrame: VideoFrame? { nil }

  /// Width over height of `dimensions`, 1 while it is nil.
  public var aspectRatio: Double { dimensions?.aspectRatio ?? 1 }
}

/// A track of another participant.
public protocol RemoteTrack: Track {}

/// A track that shows frames in renderers.
public protocol VideoTrack: Track {
  /// The newest frame; nil without a renderer.
  var videoFrame: VideoFrame? { get }
  /// Shows every frame from now on in `videoRenderer`, too.
  func add(videoRenderer: any VideoRenderer)
  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  func remove(videoRenderer: any VideoRenderer)
}

/// A track that plays audio to renderers.
public protocol AudioTrack: Track {
  /// Hands all audio from now on to `audioRenderer`, too.
  func add(audioRenderer: any AudioRenderer)
  /// After it returns no further call comes, unless a renderer removes itself from within a call.
  func remove(audioRenderer: any AudioRenderer)
}
