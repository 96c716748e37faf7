import MediaCore

/// What a multiplexer makes, taken apart where a segment may begin.
protocol SegmentFormat {
  /// What the name of a segment's file ends in.
  var ending: String { get }
  /// What every segment needs in front, in a file of its own; nil where there is none, and before it has come.
  var initialization: [UInt8]? { get }
  /// Ticks of 90 kHz that the output's beginning is in its times.
  var ticks: Int { get }
  /// Takes what the multiplexer hands out in one piece.
  /// - Parameter time: what the multiplexer says of it, since the output's beginning.
  mutating func take(_ bytes: UnsafeRawBufferPointer, at time: Duration?) -> SegmentPiece
  /// What goes in front of a segment, in its file.
  mutating func head() -> [UInt8]
}

/// What becomes of a piece of multiplexed media.
enum SegmentPiece: Equatable {
  /// It stands in no segment, or stands in front of each.
  case apart
  /// It goes on with the one before.
  case more
  /// A frame begins with it, or several; where there is no video a stretch of audio.
  /// - Parameter lasting: all of them; nil where the piece does not say.
  case frame(Duration, isKeyframe: Bool, lasting: Duration?)
}
