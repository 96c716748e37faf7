extension VideoCodec {
  /// True for what says that a frame is one macroblock, 16x16 or less: the beginning of a VP8 keyframe, or a sequence
  /// parameter set of H.264. A LiveKit server sends a few such frames when it stops sending a track, to clear a browser's
  /// screen; nobody publishes such a thing.
  public func beginsBlankFrame(_ unit: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .vp8:
      guard let size = VP8FrameHeader.keyframeSize(unit) else { return false }
      return max(size.width, size.height) <= 16
    case .h264:
      guard unit.first.map(H264NALType.init(firstByte:)) == .sequenceParameters else { return false }
      return (try? H264SequenceParameters(H264Payload.read(unit)))?.macroblocks == 1
    case .vp9, .h265, .av1: return false
    }
  }
}
