import PipelineTemplates

/// Finds the name of a file that is one of many, and made of what people in the room call themselves: nothing that this
/// process has written is written over, and nobody goes without a file, whatever names become the same.
struct OwnName: Sendable {
  /// With placeholders filled, and without a number.
  let whole: Destination
  /// How often it was written before.
  let takes: Int
  /// Of what lies beside it; nil for no segments.
  let segments: SegmentOptions?
  /// Paths without ending of the files that have what is said beside them already; nil where it is not to have that.
  let captionedStems: [String]?

  /// Takes one until the file is taken. What was there before this process is in the way of all but the whole name.
  func reserve() -> ReservedName { whole.own(after: takes, reserve: take) }

  private func take(_ place: Destination) -> Bool {
    let isWhole = place.location == whole.location
    if let path = captions(of: place), isWhole ? FileClaim.isKnown(path) : FileClaim.isTaken(path) { return false }
    guard let segments else { return FileClaim.reserve(place.location) }
    guard let names = try? SegmentNames(place, segments), isWhole || names.occupied(isLater: true) == nil else {
      return false
    }
    return FileClaim.reserve(place.location, names)
  }

  private func captions(of place: Destination) -> String? {
    captionedStems.map { CaptionPlace(keepsEnding: $0.contains(place.stem)).path(beside: place) }
  }
}
