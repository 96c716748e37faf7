/// What anybody in a room publishes, whoever it is. ``LocalParticipant`` and ``RemoteParticipant`` have the same under the
/// same names, of their own kind of publication.
public protocol Publishing: Participant {}

extension Participant: Publishing {}

extension Publishing {
  /// What is published, subscribed or not, by track SID.
  public var trackPublications: [Track.Sid: TrackPublication] { allPublications }
  /// The publications of video, sorted by SID.
  public var videoTracks: [TrackPublication] { allPublications.sorted(where: { $0.kind == .video }) }
  /// The publications of audio, sorted by SID.
  public var audioTracks: [TrackPublication] { allPublications.sorted(where: { $0.kind == .audio }) }

  /// The first publication from that source; nil where none is.
  public func getTrackPublication(source: Track.Source) -> TrackPublication? {
    allPublications.sorted(where: { $0.source == source }).first
  }
}

extension Dictionary where Value: TrackPublication {
  /// Those that are wanted, sorted by SID.
  func sorted(where isWanted: (Value) -> Bool) -> [Value] { values.filter(isWanted).sorted { $0.sid < $1.sid } }
}

extension Participant {
  /// Whether a camera is published and not muted.
  public func isCameraEnabled() -> Bool { isEnabled(.camera) }
  /// Whether a microphone is published and not muted.
  public func isMicrophoneEnabled() -> Bool { isEnabled(.microphone) }
  /// Whether a screen is published and not muted.
  public func isScreenShareEnabled() -> Bool { isEnabled(.screenShareVideo) }

  private func isEnabled(_ source: Track.Source) -> Bool { getTrackPublication(source: source)?.isMuted == false }

  /// Of a camera; nil where none is published.
  public var firstCameraPublication: TrackPublication? { getTrackPublication(source: .camera) }
  /// Of a screen; nil where none is published.
  public var firstScreenSharePublication: TrackPublication? { getTrackPublication(source: .screenShareVideo) }
  /// Of any audio; nil where none is published.
  public var firstAudioPublication: TrackPublication? { audioTracks.first }

  /// The frames of a camera; nil where it is not published, not subscribed, or muted.
  public var firstCameraVideoTrack: (any VideoTrack)? { firstCameraPublication?.unmutedTrack as? any VideoTrack }
  /// The frames of a screen; nil where it is not published, not subscribed, or muted.
  public var firstScreenShareVideoTrack: (any VideoTrack)? {
    firstScreenSharePublication?.unmutedTrack as? any VideoTrack
  }
  /// Any audio; nil where none is published, it is not subscribed, or muted.
  public var firstAudioTrack: (any AudioTrack)? { firstAudioPublication?.unmutedTrack as? any AudioTrack }
}

extension TrackPublication {
  fileprivate var unmutedTrack: Track? { isMuted ? nil : track }
}
