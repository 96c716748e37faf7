import MediaBridge
import MediaCore
import MediaPipelines

/// Which tracks a recording is made of, what arrives of them, and what is left out.
struct RecordedTracks: Sendable {
  /// A track that arrives.
  struct Input: Sendable {
    let publication: RemoteTrackPublication
    let media: IncomingMedia
    let consumers: [MediaConsumer]
    /// Why nothing comes any more.
    let failure: Locked<LiveKitError?>
    var track: OutputTrack

    /// With what was lost on its way here.
    var counted: OutputTrack {
      var counted = track
      counted.buffersDropped += consumers.reduce(0) { $0 + $1.dropped }
      return counted
    }

    func stop() { for consumer in consumers { consumer.stop() } }
  }

  /// Who is recorded; nil before it is known.
  var identity: String?
  var choice: TrackChoice
  var omissions = OmissionList()
  /// Subscribed to, or about to be.
  var taken: [Track.Kind: RemoteTrackPublication] = [:]
  /// What arrives of those.
  var inputs: [Track.Kind: Input] = [:]
  /// The inputs that have gone, as they were counted last.
  var ended: [Track.Kind: OutputTrack] = [:]

  init(_ choice: TrackChoice) { self.choice = choice }

  /// Those that arrive, the video first.
  var arriving: [OutputTrack] { [Track.Kind.video, .audio].compactMap { inputs[$0]?.track } }
  /// Those that arrive or did.
  var all: [OutputTrack] { [Track.Kind.video, .audio].compactMap { inputs[$0]?.counted ?? ended[$0] } }

  /// Stops what arrives of a track.
  mutating func remove(_ input: Input) {
    input.stop()
    inputs[input.track.kind] = nil
    ended[input.track.kind] = input.counted
  }

  func omission(_ publication: RemoteTrackPublication, _ reason: String, wasWanted: Bool) -> Omission {
    Omission(
      sid: publication.sid, kind: publication.kind, source: publication.source, participant: identity ?? "",
      reason: reason, wasWanted: wasWanted)
  }

  /// Notes what was to be written and is not; what came after all was only late.
  /// - Parameter written: how much of a kind is.
  mutating func noteWhatNeverCame(written: (Track.Kind) -> Int) {
    guard let identity else { return }
    for omission in choice.missing(of: identity) { _ = omissions.note(omission) }
    for (kind, publication) in taken {
      let isEmpty = written(kind) == 0
      let hasCome = inputs[kind].map { $0.publication === publication && $0.track.packetsReceived > 0 } ?? false
      if hasCome, !isEmpty { omissions.came(publication.sid) }
      guard isEmpty, !omissions.has(publication.sid) else { continue }
      let reason = publication.isMuted ? "it was muted all the time" : "nothing of it has come"
      _ = omissions.note(omission(publication, reason, wasWanted: choice.isNamed(publication)))
    }
  }
}
