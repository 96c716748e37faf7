import ArgumentParser

/// What publishing commands encode video as.
enum PublishedCodec {
  private static let names = ["vp8", "vp9", "h264", "av1"]

  /// - Throws: what is wrong with a `--codec`.
  static func check(_ codec: String) throws {
    guard names.contains(codec) else { throw ValidationError("--codec \(codec): give vp8, vp9, h264 or av1") }
  }
}
