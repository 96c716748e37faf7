public import MediaBridge

/// What is written of what is said, beside the files of a destination.
public struct CaptionStatus: Sendable, Equatable {
  /// Paths of the WebVTT files, `NAME.vtt`, one beside each part; beside segments those of the rendition's playlist and of the
  /// one for players.
  public var files: [String] = []
  /// How many cues they hold.
  public var cues = 0
  /// Why some of them are not in the files.
  public var failure: LiveKitError?
}
