import Foundation
package import LiveKitProtocol
package import PeerTransport
package import SignalTransport

extension TrackInfo {
  init(_ info: Livekit_TrackInfo) {
    sid = info.sid
    name = info.name
    kind =
      switch info.type {
      case .audio: .audio
      case .video: .video
      default: .none
      }
    source = Track.Source(info.source)
    mimeType = info.mimeType
    mimeTypes = info.codecs.map(\.mimeType) + [info.mimeType]
    isMuted = info.muted
    // A server counts up this version when a track is published, and not again.
    publishedAt =
      info.version.unixMicro > 0 ? Date(timeIntervalSince1970: Double(info.version.unixMicro) / 1_000_000) : nil
    // A way that is not known here is no less encrypted.
    encryption = EncryptionType(rawValue: info.encryption.rawValue) ?? .custom
    dimensions =
      info.width > 0 && info.height > 0
      ? Dimensions(width: Int32(clamping: info.width), height: Int32(clamping: info.height)) : nil
    let announced = info.codecs.first.flatMap { $0.layers.isEmpty ? nil : $0.layers } ?? info.layers
    simulcasted = info.simulcast || announced.count > 1
    layers = announced.map { layer in
      VideoLayer(
        quality: VideoQuality(rawValue: layer.quality.rawValue) ?? .high,
        dimensions: Dimensions(width: Int32(clamping: layer.width), height: Int32(clamping: layer.height)),
        bitrate: Int(layer.bitrate))
    }
  }
}

extension Participant.Info {
  init(_ info: Livekit_ParticipantInfo) {
    sid = info.sid
    identity = info.identity
    name = info.name.isEmpty ? nil : info.name
    metadata = info.metadata.isEmpty ? nil : info.metadata
    attributes = info.attributes
    permissions = ParticipantPermissions(info.permission)
    joinedAt = Date(serverMilliseconds: info.joinedAtMs, seconds: info.joinedAt)
    // One that is not known here takes part as any other.
    kind = Participant.Kind(rawValue: info.kind.rawValue) ?? .standard
    state = ParticipantState(rawValue: info.state.rawValue) ?? .unknown
    clientProtocol = Int(info.clientProtocol)
  }
}

extension Date {
  /// Older servers tell whole seconds only; nil where they tell neither.
  init?(serverMilliseconds milliseconds: Int64, seconds: Int64) {
    guard milliseconds > 0 || seconds > 0 else { return nil }
    self.init(timeIntervalSince1970: milliseconds > 0 ? Double(milliseconds) / 1000 : Double(seconds))
  }
}

extension Track.Source {
  init(_ source: Livekit_TrackSource) {
    self =
      switch source {
      case .camera: .camera
      case .microphone: .microphone
      case .screenShare: .screenShareVideo
      case .screenShareAudio: .screenShareAudio
      default: .unknown
      }
  }
}

extension ParticipantPermissions {
  init(_ permission: Livekit_ParticipantPermission) {
    canSubscribe = permission.canSubscribe
    canPublish = permission.canPublish
    canPublishSources = Set(permission.canPublishSources.map(Track.Source.init))
    canPublishData = permission.canPublishData
    canUpdateMetadata = permission.canUpdateMetadata
    hidden = permission.hidden
  }
}

extension Livekit_UpdateTrackSettings {
  /// More frames a second than any track has. LiveKit's server leaves a limit as it was where it is told 0
  /// (`SubscribedTrack.applySettings`).
  private static let allFrames: UInt32 = 1000

  init(_ settings: TrackSettings, trackSids: [String]) {
    self.init()
    let settings = settings.applied
    self.trackSids = trackSids
    disabled = !settings.isEnabled
    // Always said: the wire's default is the lowest.
    quality = Livekit_VideoQuality(rawValue: settings.quality.rawValue) ?? .high
    width = UInt32(clamping: settings.dimensions?.width ?? 0)
    height = UInt32(clamping: settings.dimensions?.height ?? 0)
    fps = settings.fps == 0 ? Self.allFrames : UInt32(clamping: settings.fps)
  }
}

extension ConnectionQuality {
  init(_ quality: Livekit_ConnectionQuality) {
    self =
      switch quality {
      case .poor: .poor
      case .good: .good
      case .excellent: .excellent
      case .lost: .lost
      default: .unknown
      }
  }
}

extension LiveKitError {
  package init(_ error: SignalError) {
    let code: Code =
      switch error {
      case .invalidURL, .invalidPort: .invalidParameter
      case .unresolvedHost, .connectionRefused, .notLiveKit, .badMessage: .network
      case .timedOut: .timedOut
      case .tls: .tls
      case .refused(401, _), .malformedToken: .unauthorized
      case .refused(403, _): .permissionDenied
      case .refused(404, _): .roomNotFound
      case .refused: .network
      case .closed, .lost: .disconnected
      }
    self.init(code, error.description, underlying: error)
  }

  package static let maySubscribeNothing = LiveKitError(
    .permissionDenied,
    "the token does not allow to receive media (canSubscribe is false); use one that grants canSubscribe")

  /// Why media is not, or no longer, connected.
  package init(_ error: PeerError) {
    switch error {
    case .iceFailed:
      self.init(
        .iceFailed,
        "media cannot be connected: \(error); open the server's UDP ports or its TCP port for media to this machine, "
          + "or set up TURN on the server")
    case .consentLost, .closedByPeer:
      self.init(
        .disconnected, "the media connection was lost: \(error); check that the server runs, and the network to it")
    case .dtlsFailed, .fingerprintMismatch, .noSRTPProfile, .noDataChannels, .unusableAnswer:
      self.init(
        .iceFailed,
        "media cannot be connected: \(error); check that nothing between here and the server changes its packets, and "
          + "that the server is a LiveKit server")
    }
    underlying = error
  }

  package init(_ reason: Livekit_DisconnectReason) {
    switch reason {
    case .duplicateIdentity:
      self.init(.duplicateIdentity, "another participant joined with the same identity; use another one for each")
    case .serverShutdown: self.init(.serverShutDown, "the server is shutting down; start again when it is back")
    case .participantRemoved:
      self.init(
        .participantRemoved,
        "the server removed this participant from the room; ask whoever runs the room before you join again")
    case .roomDeleted:
      self.init(.roomDeleted, "the room was deleted on the server; join again where another one is to be made")
    case .roomClosed:
      self.init(.roomClosed, "the room was closed because nobody else was left; join again when somebody is there")
    case .connectionTimeout, .mediaFailure:
      self.init(
        .disconnected,
        "the server has lost the media connection (\(reason)); check the network to it, and connect again")
    case .stateMismatch, .joinFailure, .signalClose, .migration:
      self.init(.disconnected, "the server ended the session (\(reason)); connect again")
    case .unknownReason: self.init(.disconnected, "the server ended the session without a reason; connect again")
    default:
      self.init(
        .disconnected, "the server ended the session (LiveKit's reason number \(reason.rawValue)); connect again")
    }
  }
}
