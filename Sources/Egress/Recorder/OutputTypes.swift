public import MediaBridge

/// One track of an output, as it was received.
public struct OutputTrack: Sendable, Equatable {
  /// The server's id of the track; empty for silence that stands in for one that was never there, and for what is mixed.
  public var sid: String
  /// Video or audio.
  public var kind: Track.Kind
  /// Such as `VP8` or `opus`; empty for silence that stands in for a track that was never there.
  public var codec: String
  /// Whether it is stored as it was sent, in all destinations that it is told of.
  public var isPassthrough: Bool
  /// Size in pixels of the frames as they come; nil for audio, and before it is known.
  public var dimensions: Dimensions?
  /// Video or audio packets written.
  public var buffers = 0
  /// Given up because encoding, a disk or a live server did not keep up. Of the latter two `DestinationStatus.missing`
  /// says more.
  public var buffersDropped = 0
  /// RTP packets with media, retransmissions that filled a gap among them.
  public var packetsReceived = 0
  /// RTP packets that never came, in no way.
  public var packetsLost = 0
  /// What the output holds of it, where an encode template made that.
  public var encoded: EncodedForm?
}

/// What an encode template makes of a track.
public struct EncodedForm: Sendable, Equatable {
  /// Such as `H264` or `AAC`.
  public var codec: String
  /// Size in pixels of its frames; nil for audio, and where the template does not say.
  public var dimensions: Dimensions?
}

/// A track that has come in another codec than the one with which an output has begun: it is encoded into that from then
/// on, or goes on in another file. With `sent` as `held` it has come in spatial layers, which no file can hold.
public struct CodecChange: Sendable, Equatable {
  /// Where it is written: a file's path, or an address without what may be a secret in it.
  public var location: String
  /// Of the track.
  public var sid: String
  /// Such as `h264`: what the output holds.
  public var held: String
  /// What the track is sent as now.
  public var sent: String
  /// The name of the encode template; nil where it goes on as it is sent, in `part`.
  public var encoder: String?
  /// The file in which it goes on; nil where it stays in the same.
  public var part: String?
  /// Media written before.
  public var start: Duration
}

/// Changed pipeline templates, with which an output goes on from a moment on.
public struct TemplateReload: Sendable, Equatable {
  /// Where it is written: a file's path, or an address without what may be a secret in it.
  public var location: String
  /// Such as `output/mp4`.
  public var templates: [String]
  /// The file in which it goes on; nil where it stays in the same, or is none.
  public var part: String?
  /// Media written before.
  public var start: Duration
}

/// How far an output is, with all its destinations.
public struct OutputProgress: Sendable, Equatable {
  /// In the order in which they were named.
  public var destinations: [DestinationStatus] = []
  /// What of the recorded participant is published and in no destination, and what was asked for and never came.
  public var omissions: [Omission] = []
  /// Whether what is now is cut out.
  public var isPaused = false
  /// What was lost before and while a room was mixed; nil for what is not mixed.
  public var mixLosses: MixLosses?
  /// Of a group: how each is that has destinations, those that are over among them; `destinations` and `omissions` are
  /// all of theirs. Empty for what is no group.
  public var members: [OutputProgress] = []

  /// Media written, of the longest destination.
  public var duration: Duration { destinations.map(\.duration).max() ?? .zero }
  /// Size of all files.
  public var bytes: Int64 { destinations.reduce(0) { $0 + $1.bytes } }
  /// At most one of video and one of audio, each as it goes to the first destination that has it.
  public var tracks: [OutputTrack] {
    [Track.Kind.video, .audio].compactMap { kind in
      destinations.lazy.flatMap(\.tracks).first { $0.kind == kind }
    }
  }
  /// The files besides those that were asked for.
  public var parts: [String] { destinations.flatMap(\.parts) }
  /// Of all destinations.
  public var codecChanges: [CodecChange] { destinations.flatMap(\.codecChanges) }

  /// Of all destinations.
  public var reloads: [TemplateReload] { destinations.flatMap(\.reloads) }

  /// The video track, if a destination has one.
  public var video: OutputTrack? { tracks.first { $0.kind == .video } }
  /// Share of packets that never came, 0…1; of a group, of what all its members sent.
  public var loss: Double { (members.isEmpty ? tracks : members.flatMap(\.tracks)).loss }
}

extension Sequence<OutputTrack> {
  /// Share of packets that never came, 0…1.
  package var loss: Double {
    let (lost, received) = reduce((0, 0)) { ($0.0 + $1.packetsLost, $0.1 + $1.packetsReceived) }
    return lost + received > 0 ? Double(lost) / Double(lost + received) : 0
  }
}
