/// How one layer of a published track is sent now.
package struct SentLayer: Sendable, Equatable {
  /// Its name towards the server; empty for one alone.
  package var rid: String
  /// Of its frames; nil for audio, and before its first frame.
  package var size: Dimensions?
  /// What it is encoded for, in bits a second; nil while it is not sent.
  package var bitrate: Int?
  /// Whether it would be sent: somebody wants it.
  package var isWanted: Bool
  /// Whether the link to the server carries less than it could use.
  package var isLimited: Bool
  /// Frames that were left out since the machine did not encode them in time.
  package var leftOut: Int
}
