extension VideoFrameBuffer {
  /// The samples upright and without padding: one plane after the other, each row by row. Those of I420 are Y, U and V,
  /// of NV12 Y and the pairs of U and V, of all others one plane.
  /// - Parameters:
  ///   - isAligned: with the padding that GStreamer's elements take for granted where caps alone tell the layout: rows
  ///     begin at multiples of four bytes, and the first of several planes has an even number of them.
  ///   - header: bytes that stand in front of them.
  /// - Returns: nil when the memory cannot be read.
  public func packed(isAligned: Bool = false, behind header: [UInt8] = []) -> [UInt8]? {
    withPlaces(isAligned) { places in
      [UInt8](unsafeUninitializedCapacity: header.count + Self.size(of: places)) { bytes, count in
        count = bytes.count
        guard let target = bytes.baseAddress else { return }
        target.initialize(from: header, count: header.count)
        pack(places, into: target + header.count)
      }
    }
  }

  /// How many bytes `pack` writes; nil when the memory cannot be read.
  public func packedSize(isAligned: Bool = false) -> Int? { withPlaces(isAligned, Self.size) }

  /// Writes what `packed` returns into memory that is there already.
  /// - Returns: false when the frame's memory cannot be read, or this one is too small.
  public func pack(into target: UnsafeMutableRawBufferPointer, isAligned: Bool = false) -> Bool {
    withPlaces(isAligned) { places in
      guard let bytes = target.baseAddress, Self.size(of: places) <= target.count else { return false }
      pack(places, into: bytes.assumingMemoryBound(to: UInt8.self))
      return true
    } ?? false
  }

  private typealias Place = (plane: Plane, room: Plane.Room)

  private func withPlaces<Result>(_ isAligned: Bool, _ body: ([Place]) -> Result) -> Result? {
    withPlanes { planes in
      body(
        (0..<planes.count).compactMap { index in
          planes[index].map {
            ($0, $0.room(media.quarterTurns, isAligned, evenRows: index == 0 && planes.count > 1))
          }
        })
    }
  }

  private static func size(of places: [Place]) -> Int { places.reduce(0) { $0 + $1.room.size } }

  private func pack(_ places: [Place], into target: UnsafeMutablePointer<UInt8>) {
    var rest = target
    for (plane, room) in places {
      if room.isPadded { rest.initialize(repeating: 0, count: room.size) }
      plane.pack(into: rest, room.stride, quarterTurns: media.quarterTurns)
      rest += room.size
    }
  }
}

extension VideoFrameBuffer.Plane {
  /// What it takes once it is turned.
  fileprivate struct Room {
    /// Bytes from one row to the next.
    var stride: Int
    var rows: Int
    /// Whether there is more than its samples.
    var isPadded = false

    var size: Int { stride * rows }
  }

  fileprivate func room(_ quarterTurns: Int, _ isAligned: Bool, evenRows: Bool) -> Room {
    let isAcross = quarterTurns % 2 == 1
    let (length, rows) = ((isAcross ? height : width) * pixelStride, isAcross ? width : height)
    guard isAligned else { return Room(stride: length, rows: rows) }
    let (stride, allRows) = ((length + 3) / 4 * 4, evenRows ? (rows + 1) / 2 * 2 : rows)
    return Room(stride: stride, rows: allRows, isPadded: stride != length || allRows != rows)
  }

  /// - Parameters:
  ///   - target: with room for all samples.
  ///   - length: bytes from one row there to the next.
  fileprivate func pack(into target: UnsafeMutablePointer<UInt8>, _ length: Int, quarterTurns: Int) {
    guard let source = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    guard quarterTurns != 0 else { return copyRows(source, target, length) }
    // Where the sample of the target's first place lies, and how far its neighbours right of it and below are.
    let (last, bottom) = ((width - 1) * pixelStride, (height - 1) * stride)
    let (start, right, down) =
      switch quarterTurns {
      case 1: (bottom, -stride, pixelStride)
      case 2: (bottom + last, -pixelStride, -stride)
      default: (last, stride, -pixelStride)
      }
    let (columns, rows) = quarterTurns == 2 ? (width, height) : (height, width)
    for row in 0..<rows {
      var place = target + row * length
      var sample = source + start + row * down
      for _ in 0..<columns {
        for byte in 0..<pixelStride { place[byte] = sample[byte] }
        place += pixelStride
        sample += right
      }
    }
  }

  private func copyRows(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>, _ length: Int) {
    let count = width * pixelStride
    if stride == length, length == count { return target.update(from: source, count: length * height) }
    for row in 0..<height { (target + row * length).update(from: source + row * stride, count: count) }
  }
}
