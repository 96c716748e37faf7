extension VideoFrameBuffer {
  /// The samples upright and without padding: one plane after the other, each row by row. Those of I420 are Y, U and V,
  /// of NV12 Y and the pairs of U and V, of all others one plane.
  /// - Returns: nil when the memory cannot be read.
  public func packed() -> [UInt8]? {
    withPlanes { planes in
      let planes = (0..<planes.count).compactMap { planes[$0] }
      let size = planes.reduce(0) { $0 + $1.width * $1.height * $1.pixelStride }
      return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
        guard var rest = bytes.baseAddress else { return }
        for plane in planes {
          plane.pack(into: rest, quarterTurns: media.quarterTurns)
          rest += plane.width * plane.height * plane.pixelStride
        }
        count = size
      }
    }
  }
}

extension VideoFrameBuffer.Plane {
  /// - Parameter target: with room for all samples.
  fileprivate func pack(into target: UnsafeMutablePointer<UInt8>, quarterTurns: Int) {
    guard let source = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    guard quarterTurns != 0 else { return copyRows(source, target) }
    // Where the sample of the target's first place lies, and how far its neighbours right of it and below are.
    let (last, bottom) = ((width - 1) * pixelStride, (height - 1) * stride)
    let (start, right, down) =
      switch quarterTurns {
      case 1: (bottom, -stride, pixelStride)
      case 2: (bottom + last, -pixelStride, -stride)
      default: (last, stride, -pixelStride)
      }
    let (columns, rows) = quarterTurns == 2 ? (width, height) : (height, width)
    var place = target
    for row in 0..<rows {
      var sample = source + start + row * down
      for _ in 0..<columns {
        for byte in 0..<pixelStride { place[byte] = sample[byte] }
        place += pixelStride
        sample += right
      }
    }
  }

  private func copyRows(_ source: UnsafePointer<UInt8>, _ target: UnsafeMutablePointer<UInt8>) {
    let length = width * pixelStride
    if stride == length { return target.update(from: source, count: length * height) }
    for row in 0..<height { (target + row * length).update(from: source + row * stride, count: length) }
  }
}
