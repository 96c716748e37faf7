/// Where the clusters of a Matroska or WebM file lie, and how long they last (RFC 9559).
struct MatroskaLayout {
  private typealias ID = MatroskaElement.ID

  private let source: ByteSource
  private let segment: MatroskaElement
  /// Elements in the segment that are whole, and the cluster that is being written or was cut; of a completed file not
  /// the clusters in the middle.
  private let elements: [MatroskaElement]

  /// Of the last two clusters each track is in one.
  private static let newest = 2

  init?(of source: ByteSource) {
    guard let header = MatroskaElement(of: source, at: 0, limit: source.count), header.id == ID.header,
      let start = header.end, let segment = MatroskaElement(of: source, at: start, limit: source.count),
      segment.id == ID.segment
    else { return nil }
    self.source = source
    self.segment = segment
    var elements = Self.elements(of: source, in: segment)
    let next = elements.last?.end ?? segment.body
    if let open = MatroskaElement(of: source, at: next, limit: source.count), open.id == ID.cluster {
      elements.append(open)
    }
    guard elements.contains(where: { $0.id == ID.cluster }) else { return nil }
    self.elements = elements
  }

  /// A file of a day has tens of thousands of clusters, all over a disk that may be slow: one that was completed lists
  /// where they begin, and what is between the first one and the newest is passed over.
  private static func elements(of source: ByteSource, in segment: MatroskaElement) -> [MatroskaElement] {
    let head = MatroskaElement.whole(of: source, from: segment.body, to: source.count) { $0.id == ID.cluster }
    guard let last = head.last, let end = last.end else { return [] }
    let start = MatroskaCues(of: source, in: segment, after: head)?.start(ofNewest: newest)
    if let start, start > last.start {
      let tail = MatroskaElement.whole(of: source, from: start, to: source.count)
      let isWhole = tail.first?.id == ID.cluster && tail.last?.end == source.count
      if isWhole, tail.count(where: { $0.id == ID.cluster }) >= newest { return head + tail }
    }
    return head + MatroskaElement.whole(of: source, from: end, to: source.count)
  }

  var media: StoredMedia? {
    guard let last = elements.last else { return nil }
    let end = (last.isWhole(in: source) ? last.end : last.children(of: source).last?.end) ?? last.start
    // A muxer may write the sizes of what it found no room for.
    return StoredMedia(
      end: end, length: length, corrections: [segment, last].compactMap { $0.correction(to: end) })
  }

  private struct Track {
    /// Where the newest block begins, in nanoseconds.
    var newest: Int64?
    /// From one block to the next, where it is shortest.
    var step: Int64?
    /// Of the newest block, where it says so.
    var duration: Int64?

    /// How long the newest block lasts, if it does not say so: the least that one did. The one before it may have stood
    /// for a held frame, which would be told as media that nobody finds.
    func end(usual: Int64?) -> Int64 {
      guard let newest else { return 0 }
      return newest + max(0, duration ?? usual ?? step ?? 0)
    }

    mutating func add(_ time: Int64, lasting duration: Int64?) {
      let since = newest.map { time - $0 }
      if let since, since > 0 { step = min(step ?? since, since) }
      (newest, self.duration) = (time, duration)
    }
  }

  /// Of the media: what is said at its end is to be read for longer.
  private var length: Duration {
    let scale = first(ID.info)?.child(ID.timestampScale, of: source)?.number(of: source) ?? 1_000_000
    let (usual, ticks) = (defaultDurations(), Int64(clamping: min(scale, 1_000_000_000)))
    var tracks: [UInt64: Track] = [:]
    for cluster in elements.filter({ $0.id == ID.cluster }).suffix(Self.newest) { note(cluster, ticks, &tracks) }
    for (number, track) in described where isText(track) { tracks[number] = nil }
    return .nanoseconds(tracks.map { $0.value.end(usual: usual[$0.key]) }.max() ?? 0)
  }

  private func first(_ id: UInt64) -> MatroskaElement? { elements.first { $0.id == id } }

  /// What is said of each track, with its number.
  private var described: [(number: UInt64, track: MatroskaElement)] {
    let tracks = first(ID.tracks)?.children(of: source).filter { $0.id == ID.track } ?? []
    return tracks.compactMap { track in
      track.child(ID.trackNumber, of: source)?.number(of: source).map { (number: $0, track: track) }
    }
  }

  /// Whether it holds subtitles (RFC 9559, 5.1.4.1.3).
  private func isText(_ track: MatroskaElement) -> Bool {
    track.child(ID.trackType, of: source)?.number(of: source) == 0x11
  }

  /// Nanoseconds, by the track's number.
  private func defaultDurations() -> [UInt64: Int64] {
    var durations: [UInt64: Int64] = [:]
    for (number, track) in described {
      guard let duration = track.child(ID.defaultDuration, of: source)?.number(of: source), duration < 10_000_000_000
      else { continue }
      durations[number] = Int64(duration)
    }
    return durations
  }

  private func note(_ cluster: MatroskaElement, _ scale: Int64, _ tracks: inout [UInt64: Track]) {
    var begin: Int64 = 0
    for element in cluster.children(of: source) {
      switch element.id {
      case ID.timestamp: begin = Int64(clamping: element.number(of: source) ?? 0)
      case ID.simpleBlock: note(element, begin, nil, scale, &tracks)
      case ID.blockGroup:
        let duration = element.child(ID.blockDuration, of: source)?.number(of: source)
        element.child(ID.block, of: source).map { note($0, begin, duration, scale, &tracks) }
      default: break
      }
    }
  }

  /// A block begins with its track's number and its time in the cluster, which is signed (RFC 9559, 10).
  private func note(
    _ block: MatroskaElement, _ begin: Int64, _ duration: UInt64?, _ scale: Int64, _ tracks: inout [UInt64: Track]
  ) {
    let head = source.bytes(at: block.body, 3)
    guard head.count == 3, head[0] & 0x80 != 0 else { return }
    let number = UInt64(head[0] & 0x7f)
    let offset = Int64(Int16(bitPattern: UInt16(head[1]) << 8 | UInt16(head[2])))
    let (time, isTooLarge) = (begin &+ offset).multipliedReportingOverflow(by: scale)
    guard !isTooLarge, (0..<1_000_000_000_000_000_000).contains(time) else { return }
    let lasting = duration.map { Int64(clamping: $0).multipliedReportingOverflow(by: scale) }
    tracks[number, default: Track()].add(
      time, lasting: lasting.flatMap { $0.overflow ? nil : min($0.partialValue, 10_000_000_000) })
  }
}
