extension Track {
  public typealias Sid = String

  public enum Kind: Int, Codable, Sendable {
    case audio
    case video
    case none
  }

  public enum Source: Int, Codable, Sendable {
    case unknown
    case camera
    case microphone
    case screenShareVideo
    case screenShareAudio
  }

  public enum TrackState: Int, Codable, Sendable {
    /// Not receiving.
    case stopped
    /// Receiving.
    case started
  }

  public static let cameraName = "camera"
  public static let microphoneName = "microphone"
  public static let screenShareVideoName = "screen_share"
  public static let screenShareAudioName = "screen_share_audio"
}

/// Width and height of a picture in pixels.
public struct Dimensions: Hashable, Codable, Sendable, CustomStringConvertible {
  public let width: Int32
  public let height: Int32

  public init(width: Int32, height: Int32) {
    self.width = width
    self.height = height
  }

  /// Width over height; 1 for an empty picture.
  public var aspectRatio: Double { height > 0 ? Double(width) / Double(height) : 1 }
  public var description: String { "\(width)x\(height)" }
}

/// Whether media of a subscribed track is flowing, as the server says.
public enum StreamState: Int, Codable, Sendable {
  case unknown
  case active
  case paused
}

/// How the media of a track is encrypted between its publisher and those who have the key, the server not among them.
public enum EncryptionType: Int, Codable, Sendable {
  case none
  /// AES-GCM, as LiveKit's clients do it.
  case gcm
  /// In the application's own way.
  case custom
}

/// Where a subscription stands.
public enum SubscriptionState: Int, Codable, Sendable {
  case subscribed
  case notAllowed
  case unsubscribed
}

/// The layers of a simulcast track, from the smallest to the largest.
public enum VideoQuality: Int, Codable, Sendable {
  case low
  case medium
  case high
}

/// One of the layers that a publisher sends of a simulcast track.
public struct VideoLayer: Hashable, Sendable {
  public let quality: VideoQuality
  public let dimensions: Dimensions
  /// Bits per second that the publisher aims at; 0 when it did not say.
  public let bitrate: Int
}

extension Track.Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .audio: "audio"
    case .video: "video"
    case .none: "none"
    }
  }
}

extension Track.Source: CustomStringConvertible {
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
