extension VideoCodec {
  /// Whether frames are sent in another order than they are shown, by a sequence parameter set of H.264; nil for any other
  /// unit, and where it is not said.
  public func reordersFrames(unit: UnsafeRawBufferPointer) -> Bool? {
    guard self == .h264, unit.first.map(H264NALType.init(firstByte:)) == .sequenceParameters else { return nil }
    return (try? H264SequenceParameters(H264Payload.read(unit)))?.reorderedFrames.map { $0 > 0 }
  }
}
