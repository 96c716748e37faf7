extension VideoFrameBuffer {
  /// The samples upright and without padding: one plane after the other, each row by row. Those of I420 are Y, U and V,
  /// of NV12 Y and the pairs of U and V, of all others one plane.
  /// - Parameter isAligned: with the padding that GStreamer's elements take for granted where caps alone tell the layout: rows
  ///   begin at multiples of four bytes, and the first of several planes has an even number of them.
  /// - Returns: nil when the memory cannot be read.
  public func packed(isAligned: Bool = false) -> [UInt8]? {
    withPlanes { planes in
      let planes = (0..<planes.count).compactMap { planes[$0] }
      let rooms = planes.indices.map { index in
        planes[index].room(media.quarterTurns, isAligned, evenRows: index == 0 && planes.count > 1)
      }
      let size = rooms.reduce(0) { $0 + $1.stride * $1.rows }
      return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
        guard var rest = bytes.baseAddress else { return }
        for (plane, room) in zip(planes, rooms) {
          if room.isPadded { rest.initialize(repeating: 0, count: room.stride * room.rows) }
          plane.pack(into: rest, room.stride, quarterTurns: media.quarterTurns)
          rest += room.stride * room.rows
        }
        count = size
      }
    }
  }
}

extension VideoFrameBuffer.Plane {
  /// What it takes once it is turned: bytes from one row to the next, and rows.
  fileprivate func room(
    _ quarterTurns: Int, _ isAligned: Bool, evenRows: Bool
  ) -> (stride: Int, rows: Int, isPadded: Bool) {
    let isAcross = quarterTurns % 2 == 1
    let (length, rows) = ((isAcross ? height : width) * pixelStride, isAcross ? width : height)
    guard isAligned else { return (length, rows, false) }
    let (stride, allRows) = ((length + 3) / 4 * 4, evenRows ? (rows + 1) / 2 * 2 : rows)
    return (stride, allRows, stride != length || allRows != rows)
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
