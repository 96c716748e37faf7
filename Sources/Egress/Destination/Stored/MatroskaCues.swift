/// What a completed Matroska or WebM file lists at its end: clusters at which a player may start (RFC 9559, 5.1.5).
struct MatroskaCues {
  private typealias ID = MatroskaElement.ID

  private let source: ByteSource
  private let segment: MatroskaElement
  private let list: MatroskaElement

  /// nil for a file that has none.
  /// - Parameter head: the elements in front of the segment's clusters, one of which says where the list is (5.1.1).
  init?(of source: ByteSource, in segment: MatroskaElement, after head: [MatroskaElement]) {
    let entries = head.first { $0.id == ID.seekHead }?.children(of: source) ?? []
    let entry = entries.first { $0.child(ID.seekID, of: source)?.number(of: source) == ID.cues }
    guard let start = Self.place(entry?.child(ID.seekPosition, of: source), in: segment, of: source),
      let list = MatroskaElement(of: source, at: start, limit: source.count), list.id == ID.cues,
      list.isWhole(in: source)
    else { return nil }
    (self.source, self.segment, self.list) = (source, segment, list)
  }

  /// Where to begin to find at least so many of the newest clusters; nil where fewer are listed.
  func start(ofNewest count: Int) -> Int64? {
    var starts: Set<Int64> = []
    for cue in list.children(of: source).reversed() {
      for positions in cue.children(of: source) where positions.id == ID.cueTrackPositions {
        let start = Self.place(positions.child(ID.cueClusterPosition, of: source), in: segment, of: source)
        if let start { starts.insert(start) }
      }
      if starts.count >= count { return starts.min() }
    }
    return nil
  }

  /// Places are counted from what is in the segment (5.1, "Segment Position").
  private static func place(
    _ element: MatroskaElement?, in segment: MatroskaElement, of source: ByteSource
  ) -> Int64? {
    guard let place = element?.number(of: source), place < UInt64(source.count) else { return nil }
    return segment.body + Int64(place)
  }
}
