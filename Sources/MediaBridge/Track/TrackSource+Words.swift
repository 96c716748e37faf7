extension Track.Source {
  /// What such a track consists of.
  package var kind: Track.Kind {
    switch self {
    case .camera, .screenShareVideo: .video
    case .microphone, .screenShareAudio: .audio
    case .unknown: .none
    }
  }

  /// As `--source` calls it.
  package var optionName: String {
    switch self {
    case .camera: "camera"
    case .microphone: "microphone"
    case .screenShareVideo: "screen"
    case .screenShareAudio: "screen-audio"
    case .unknown: "unknown"
    }
  }

  /// As people call it.
  package func spoken(_ kind: Track.Kind) -> String {
    switch self {
    case .camera: "camera"
    case .microphone: "microphone"
    case .screenShareVideo: "screen share"
    case .screenShareAudio: "screen-share audio"
    case .unknown: kind == .none ? "track" : "\(kind) track"
    }
  }
}
