import LiveKitProtocol
package import MediaPipelines

/// What becomes of the first codec of a track once it comes in its backup codec, too. The server sees to it.
public enum BackupCodecPolicy: String, CaseIterable, Sendable, Hashable {
  /// The server decides: LiveKit's has everybody change over to the backup codec in a small room, of fewer than five.
  case preferRegression = "prefer-regression"
  /// Both are sent, and everybody receives the first one who can: more to encode and to send.
  case simulcast
  /// Everybody changes over to the backup codec, and the first one is not sent any more.
  case regression
}

/// How video is published.
public struct VideoPublishOptions: Sendable, Hashable {
  /// What the track is called; nil for the track's own name.
  public var name: String?
  /// Of the largest layer of a camera; nil for what LiveKit's clients use at its size, and all frames.
  public var encoding: VideoEncoding?
  /// The same for a screen.
  public var screenShareEncoding: VideoEncoding?
  /// Whether smaller layers are sent, too, between which the server chooses for each subscriber. VP9 and AV1 have none.
  public var simulcast: Bool
  /// The smaller layers of a camera: two of a track that is at least 960 pixels long, one from 480 on. Empty for those of
  /// LiveKit's clients: 180 and 360 pixels high, 15 and 20 frames a second.
  public var simulcastLayers: [VideoParameters]
  /// The same for a screen; empty for one of half the size.
  public var screenShareSimulcastLayers: [VideoParameters]
  /// VP8, VP9, H.264 or AV1, which takes most to encode.
  public var preferredCodec: VideoCodec
  /// Beside VP9 and AV1, which not all decode: VP8 or H.264, which is sent, too, while the server says that somebody receives
  /// the track who cannot decode the other one. Nil for none; without a meaning beside another codec.
  public var preferredBackupCodec: VideoCodec?
  /// What becomes of the first codec once the backup codec is sent.
  public var backupCodecPolicy: BackupCodecPolicy
  /// The name of the encode template; nil for the one of the codec: `vp8`, `vp9`, `av1` or `h264-openh264`.
  public var encodeTemplate: String?
  /// Values for the variables of the encode and send templates, by name; they go before what is derived.
  public var values: [String: String]

  /// Without arguments VP8 in layers.
  public init(
    name: String? = nil, encoding: VideoEncoding? = nil, screenShareEncoding: VideoEncoding? = nil,
    simulcast: Bool = true, simulcastLayers: [VideoParameters] = [], screenShareSimulcastLayers: [VideoParameters] = [],
    preferredCodec: VideoCodec = .vp8, preferredBackupCodec: VideoCodec? = nil,
    backupCodecPolicy: BackupCodecPolicy = .preferRegression, encodeTemplate: String? = nil,
    values: [String: String] = [:]
  ) {
    (self.name, self.encoding, self.screenShareEncoding) = (name, encoding, screenShareEncoding)
    (self.simulcast, self.simulcastLayers) = (simulcast, simulcastLayers)
    self.screenShareSimulcastLayers = screenShareSimulcastLayers
    (self.preferredCodec, self.preferredBackupCodec) = (preferredCodec, preferredBackupCodec)
    self.backupCodecPolicy = backupCodecPolicy
    (self.encodeTemplate, self.values) = (encodeTemplate, values)
  }
}

extension VideoPublishOptions {
  /// Why nothing may be sent as its source carries it; nil where it may.
  func reasonToEncode(_ encoder: Set<String>) -> String? {
    if encoding != nil { return "a bitrate of its own was asked for" }
    if let encodeTemplate { return "encode/\(encodeTemplate) was asked for" }
    return values.reason(encoder)
  }

  var usedEncodeTemplate: String {
    encodeTemplate ?? (preferredCodec == .h264 ? "h264-openh264" : preferredCodec.rawValue)
  }

  /// How the backup codec is published; nil without one.
  var backup: VideoPublishOptions? {
    guard preferredCodec.comesInOneLayer, let codec = preferredBackupCodec, !codec.comesInOneLayer else { return nil }
    var options = self
    (options.preferredCodec, options.preferredBackupCodec) = (codec, nil)
    // Those are for the encoder of the other codec.
    (options.encodeTemplate, options.values) = (nil, [:])
    // In one layer, as the first codec: a server tells layers apart by those of the track.
    options.simulcast = false
    return options
  }

  /// What is between the frames and the room.
  package var templates: [TemplateName] {
    [TemplateName(.encode, usedEncodeTemplate), TemplateName(.send, preferredCodec.rawValue)]
  }
}

extension Livekit_BackupCodecPolicy {
  init(_ policy: BackupCodecPolicy) {
    self =
      switch policy {
      case .preferRegression: .preferRegression
      case .simulcast: .simulcast
      case .regression: .regression
      }
  }
}

extension VideoCodec {
  /// Whether it is sent without smaller layers; such codecs are not decoded by everybody, either.
  var comesInOneLayer: Bool { self == .vp9 || self == .av1 }
}

/// How audio is published: as Opus.
public struct AudioPublishOptions: Sendable, Hashable {
  /// What the track is called; nil for the track's own name.
  public var name: String?
  /// How much it may take; nil for what the encode template says.
  public var encoding: AudioEncoding?
  /// Whether next to nothing is sent while it is silent (DTX).
  public var dtx: Bool
  /// Whether each packet holds the one before, too (RED, RFC 2198), so that single losses are not heard. It is left out
  /// while the link has no room for it and loses nothing.
  public var red: Bool
  /// The name of the encode template.
  public var encodeTemplate: String
  /// Values for the variables of the encode and send templates, by name; they go before what is derived.
  public var values: [String: String]

  /// Without arguments as the template `encode/opus` has it.
  public init(
    name: String? = nil, encoding: AudioEncoding? = nil, dtx: Bool = true, red: Bool = true,
    encodeTemplate: String = "opus", values: [String: String] = [:]
  ) {
    (self.name, self.encoding, self.dtx, self.red) = (name, encoding, dtx, red)
    (self.encodeTemplate, self.values) = (encodeTemplate, values)
  }
}

extension AudioPublishOptions {
  /// Why nothing may be sent as its source carries it; nil where it may.
  func reasonToEncode(_ encoder: Set<String>) -> String? {
    if encoding != nil { return "a bitrate of its own was asked for" }
    if encodeTemplate != Self().encodeTemplate { return "encode/\(encodeTemplate) was asked for" }
    return values.reason(encoder)
  }

  /// What is between the audio and the room.
  package var templates: [TemplateName] { [TemplateName(.encode, encodeTemplate), TemplateName(.send, "opus")] }
}

extension [String: String] {
  /// The first value that only an encoder has a use for.
  fileprivate func reason(_ encoder: Set<String>) -> String? {
    keys.sorted().first(where: encoder.contains).map { "its \($0) was set" }
  }
}
