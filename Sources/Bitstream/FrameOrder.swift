extension VideoCodec {
  /// Whether frames are sent in another order than they are shown, by a sequence parameter set of H.264; nil for any other
  /// unit, and where it is not said.
  public func reordersFrames(unit: UnsafeRawBufferPointer) -> Bool? {
    guard self == .h264, unit.first.map(H264NALType.init(firstByte:)) == .sequenceParameters else { return nil }
    return (try? H264SequenceParameters(H264Payload.read(unit)))?.reorderedFrames.map { $0 > 0 }
  }
}

extension VideoCodec {
  /// Whether a frame of H.264 is made of ones that are shown later, too: a B-frame, as its first slice says.
  /// - Parameter lengthSize: bytes of the length in front of each unit; nil where start codes are between them.
  public func isBidirectional(frame: UnsafeRawBufferPointer, lengthSize: Int?) -> Bool {
    let slices: Set<H264NALType> = [.slice, .idrSlice]
    guard self == .h264, let slice = H264Unit.first(of: slices, in: frame, lengthSize: lengthSize) else { return false }
    // Two numbers of a few bits, the second of which is the type: B is 1, or 6 where all slices are (7.4.3).
    var reader = BitReader(H264Payload.read(slice, limit: 16))
    guard (try? reader.unsigned()) != nil, let type = try? reader.unsigned() else { return false }
    return type % 5 == 1
  }

  /// Whether frames are sent in another order than they are shown, by the sequence parameter set of the record that MP4 and
  /// Matroska have of H.264 (ISO/IEC 14496-15, 5.3.3.1), or else of a keyframe with start codes; nil where it is not said.
  public func reordersFrames(record: [UInt8]?, keyframe: UnsafeRawBufferPointer) -> Bool? {
    guard let record else {
      return H264Unit.first(of: [.sequenceParameters], in: keyframe, lengthSize: nil).flatMap(reordersFrames(unit:))
    }
    // Behind six bytes the sets stand behind lengths of two.
    return record.withUnsafeBytes { bytes in
      guard bytes.count > 6 else { return nil }
      let sets = UnsafeRawBufferPointer(rebasing: bytes[6...])
      return H264NALUnits(sets, lengthSize: 2).first { _ in true }.flatMap(reordersFrames(unit:))
    }
  }

  /// How many bytes of length are in front of each unit, by the record that MP4 and Matroska have of the stream
  /// (ISO/IEC 14496-15, 5.3.3.1).
  public static func lengthSize(ofRecord record: [UInt8]) -> Int? {
    record.count > 5 && record[0] == 1 ? Int(record[4] & 3) + 1 : nil
  }
}

/// The units of a frame in either form.
private enum H264Unit {
  /// - Returns: with start codes, also what follows it.
  static func first(
    of types: Set<H264NALType>, in frame: UnsafeRawBufferPointer, lengthSize: Int?
  ) -> UnsafeRawBufferPointer? {
    let isWanted = { (byte: UInt8) in types.contains(H264NALType(firstByte: byte)) }
    if let lengthSize { return H264NALUnits(frame, lengthSize: lengthSize).first { isWanted($0[0]) } }
    var zeros = 0
    for (index, byte) in frame.enumerated() {
      if zeros >= 2, byte == 1, index + 1 < frame.count, isWanted(frame[index + 1]) {
        return UnsafeRawBufferPointer(rebasing: frame[(index + 1)...])
      }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return nil
  }
}
