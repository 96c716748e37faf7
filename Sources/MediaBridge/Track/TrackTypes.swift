extension Track {
  /// The server's id of a track, such as `TR_VCxnTe8sRKZgBi`.
  public typealias Sid = String

  /// What a track carries.
  public enum Kind: Int, Codable, Sendable {
    /// Samples of one channel or more.
    case audio
    /// Frames.
    case video
    /// Neither that this library knows.
    case none
  }

  /// What a publisher captures for a track.
  public enum Source: Int, Codable, Sendable {
    /// The publisher did not say.
    case unknown
    /// Video of a person, mostly.
    case camera
    /// Audio of a person, mostly.
    case microphone
    /// A screen or a window.
    case screenShareVideo
    /// What is heard on a screen that is shared.
    case screenShareAudio
  }

  /// Whether a subscribed track is received, or one of this process captured.
  public enum TrackState: Int, Codable, Sendable {
    /// Neither receiving nor capturing.
    case stopped
    /// Receiving, or capturing.
    case started
  }

  /// What LiveKit's clients name a camera's track.
  public static let cameraName = "camera"
  /// What LiveKit's clients name a microphone's track.
  public static let microphoneName = "microphone"
  /// What LiveKit's clients name the track of a shared screen.
  public static let screenShareVideoName = "screen_share"
  /// What LiveKit's clients name the track of a shared screen's audio.
  public static let screenShareAudioName = "screen_share_audio"
}

/// Width and height of a frame in pixels.
public struct Dimensions: Hashable, Codable, Sendable, CustomStringConvertible {
  /// In pixels.
  public let width: Int32
  /// In pixels.
  public let height: Int32

  /// In pixels; nothing is checked.
  public init(width: Int32, height: Int32) {
    self.width = width
    self.height = height
  }

  /// Width over height; 1 for an empty frame.
  public var aspectRatio: Double { height > 0 ? Double(width) / Double(height) : 1 }
  /// Such as `1280x720`.
  public var description: String { "\(width)x\(height)" }
}

/// Whether media of a subscribed track is flowing, as the server says.
public enum StreamState: Int, Codable, Sendable {
  /// The server has said nothing of it in this session.
  case unknown
  /// Media is sent.
  case active
  /// The server holds the media back because the way to here is too narrow.
  case paused
}

/// How the media of a track is encrypted between its publisher and those who have the key, the server not among them.
public enum EncryptionType: Int, Codable, Sendable {
  /// Not encrypted end to end.
  case none
  /// AES-GCM, as LiveKit's clients do it.
  case gcm
  /// In the application's own way.
  case custom
}

/// Where a subscription stands.
public enum SubscriptionState: Int, Codable, Sendable {
  /// `track` is there, and its media may flow.
  case subscribed
  /// The publisher does not allow it.
  case notAllowed
  /// Not asked for, or not there yet.
  case unsubscribed
}

/// The layers of a simulcast track, from the smallest to the largest.
public enum VideoQuality: Int, Codable, Sendable {
  /// The smallest layer.
  case low
  /// The one in between; where there are two layers, the larger.
  case medium
  /// The largest layer.
  case high
}

/// One of the layers that a publisher sends of a simulcast track.
public struct VideoLayer: Hashable, Sendable {
  /// The name of the layer towards the server.
  public let quality: VideoQuality
  /// Size of its frames in pixels.
  public let dimensions: Dimensions
  /// Bits per second that the publisher aims at; 0 when it did not say.
  public let bitrate: Int
}

extension Track.Kind: CustomStringConvertible {
  /// `audio`, `video` or `none`.
  public var description: String {
    switch self {
    case .audio: "audio"
    case .video: "video"
    case .none: "none"
    }
  }
}

extension Track.Source: CustomStringConvertible {
  /// The usual name of such a track, such as `camera`.
  public var description: String {
    switch self {
    case .unknown: "unknown"
    case .camera: Track.cameraName
    case .microphone: Track.microphoneName
    case .screenShareVideo: Track.screenShareVideoName
    case .screenShareAudio: Track.screenShareAudioName
    }
  }
}
