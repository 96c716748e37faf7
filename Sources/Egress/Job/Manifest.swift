/// What a job has recorded, to be stored beside its files. As JSON its keys are those of LiveKit Egress where that has
/// them, such as `room_name` and `files`; times within the media are seconds, those of the day nanoseconds since 1970.
public struct Manifest: Codable, Sendable, Equatable {
  /// A track as it came.
  public struct Track: Codable, Sendable, Equatable {
    /// The server's id.
    public var trackId: String
    /// `video` or `audio`.
    public var kind: String
    /// `camera`, `microphone` and so on.
    public var source: String
    /// Who published it.
    public var publisherIdentity: String
    /// Such as `vp8`.
    public var codec: String
    /// RTP packets with media that came.
    public var packets: Int
    /// RTP packets that never came.
    public var lost: Int
  }

  /// A file that was written.
  public struct File: Codable, Sendable, Equatable {
    /// Without its folder.
    public var filename: String
    /// Its path.
    public var location: String
  }

  /// A playlist, and the segments that it lists.
  public struct Playlist: Codable, Sendable, Equatable {
    /// Its path.
    public var location: String
    /// Those that are still there.
    public var segments: [File]
  }

  /// An image that was taken.
  public struct Image: Codable, Sendable, Equatable {
    /// Without its folder.
    public var filename: String
    /// When it was written, as RFC 3339 has it.
    public var timestamp: String?
    /// Its path.
    public var location: String
  }

  /// One of the places that the job went to.
  public struct Destination: Codable, Sendable, Equatable {
    /// A path, or an address without its secrets.
    public var location: String
    /// A `DestinationStatus.State`.
    public var state: String
    /// Seconds of media in it.
    public var duration: Double
    /// Bytes of all its files; nil for what is no file.
    public var size: Int64?
    /// Paths of the WebVTT files of what is said in it; nil where there are to be none.
    public var captions: [String]?
    /// Frames and blocks of audio that found no time to be written; nil for none.
    public var dropped: Int?
    /// Why it failed.
    public var error: String?
  }

  /// A stretch of the media.
  public struct Span: Codable, Sendable, Equatable {
    /// `video` or `audio`, where it is about one of them.
    public var kind: String?
    /// Of a participant, where it is about one.
    public var identity: String?
    /// Of a track, where it is about one.
    public var trackId: String?
    /// Seconds since the first moment.
    public var from: Double
    /// Seconds since the first moment.
    public var to: Double
  }

  /// Video that came in another codec from a moment on.
  public struct Change: Codable, Sendable, Equatable {
    /// The destination.
    public var location: String
    /// The track.
    public var trackId: String
    /// The codec that the destination holds.
    public var held: String
    /// The codec that is sent.
    public var sent: String
    /// Seconds since the first moment.
    public var from: Double
    /// The file in which it goes on; nil where it is encoded into the same.
    public var part: String?
  }

  /// Changed pipeline templates that a destination goes on with from a moment on.
  public struct Reload: Codable, Sendable, Equatable {
    /// The destination.
    public var location: String
    /// Such as `output/mp4`.
    public var templates: [String]
    /// Seconds since the first moment.
    public var from: Double
    /// The file in which it goes on; nil where it stays in the same.
    public var part: String?
  }

  /// What is not recorded.
  public struct Missing: Codable, Sendable, Equatable {
    /// Empty for what was never published.
    public var trackId: String
    /// `camera`, `microphone` and so on.
    public var source: String
    /// Who published it.
    public var publisherIdentity: String
    /// For people.
    public var reason: String
    /// Whether it was asked for.
    public var wanted: Bool
  }

  /// The id of a job that LiveKit's server has given, `EG_…`, under which such a participant joins; nil without one.
  public var egressId: String?
  /// The server's id of the room.
  public var roomId: String
  /// The room's name.
  public var roomName: String
  /// Who was recorded; nil for a whole room.
  public var publisherIdentity: String?
  /// When the first moment was.
  public var startedAt: Int64
  /// When the last moment was; pauses lie between it and the first.
  public var endedAt: Int64
  /// All files that hold media, parts among them.
  public var files: [File]
  /// All playlists; nil without one.
  public var playlists: [Playlist]?
  /// All images that are still there; nil without one.
  public var images: [Image]?
  /// In the order in which they were named.
  public var destinations: [Destination]
  /// Each track that came.
  public var tracks: [Track]
  /// Where nothing of a kind came for a second or more: it was muted, or lost, and something stands in for it. Of what is
  /// mixed, by tracks, while they have a place in the mix. 100,000 of a kind, or of such a track, are noted at most.
  public var gaps: [Span]
  /// Who spoke when, as the server told it, of those who are recorded.
  public var speakers: [Span]
  /// Seconds since the first moment, up to which `speakers` has all; nil where that is the end. 100,000 turns are noted at
  /// most.
  public var speakersUntil: Double?
  /// In the order in which they came.
  public var codecChanges: [Change]
  /// In the order in which they took over.
  public var reloads: [Reload]
  /// What of the room is not in it.
  public var notRecorded: [Missing]
}
