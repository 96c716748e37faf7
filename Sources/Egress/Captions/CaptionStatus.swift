public import MediaBridge

/// What is written of what is said, beside the files of a destination.
public struct CaptionStatus: Sendable, Equatable {
  /// Paths of the WebVTT files, `NAME.vtt`, one beside each part; beside segments those of the rendition's playlist and of the
  /// one for players.
  public var files: [String] = []
  /// How many cues they hold.
  public var cues = 0
  /// How many came when the part in which they were said was complete: its own track, or the rendition beside its segments,
  /// lacks them.
  public var lateCues = 0
  /// Why some of them are not in the files.
  public var failure: LiveKitError?
}
