/// Follows VP9 frames as far as needed to repeat a frame, and to make a black one.
struct VP9Stream: RepeatableStream {
  private var slots = ReferenceSlots(count: 8)
  /// Of what the slots hold; nil where it is not known.
  private var formats = [VP9FrameHeader.Format?](repeating: nil, count: 8)
  /// Of the frame that was shown last.
  private var shown: VP9FrameHeader.Format?
  private var profile = 0
  private var endsHidden = false

  mutating func follow(_ unit: UnsafeRawBufferPointer) {
    do {
      let headers = try VP9SuperFrame.frames(unit).map { try VP9FrameHeader($0) }
      for (index, header) in headers.enumerated() { apply(header, isLast: index == headers.count - 1) }
    } catch {
      slots.forgetAll()
    }
  }

  private mutating func apply(_ header: VP9FrameHeader, isLast: Bool) {
    profile = header.profile
    switch header.kind {
    case .existing(let slot):
      slots.show(slot)
      shown = formats[slot] ?? shown
      endsHidden = false
    case .coded(let refreshed, let isShown, let shape):
      // Of the spatial layers in one super-frame a decoder shows the last one only.
      slots.store(refreshed, isShown: isShown && isLast)
      let format = format(shape)
      for slot in formats.indices where refreshed >> slot & 1 == 1 { formats[slot] = format }
      if isShown && isLast { shown = format ?? shown }
      endsHidden = !isShown
    }
  }

  private func format(_ shape: VP9FrameHeader.Shape) -> VP9FrameHeader.Format? {
    switch shape {
    case .key(let format): return format
    case .slot(let slot): return formats[slot]
    case .size(let width, let height):
      var format = shown
      format?.width = width
      format?.height = height
      return format
    }
  }

  /// A frame that shows what a slot holds, `show_existing_frame`.
  func repeatFrame() -> RepeatFrame? {
    // Decoders disagree on whether the next frame may take vectors from a hidden one with a shown one between them.
    guard !endsHidden, let (slot, isLastShown) = slots.newestShown else { return nil }
    var writer = BitWriter()
    writer.bits(0b10, 2)
    writer.bits(profile & 1, 1)
    writer.bits(profile >> 1, 1)
    if profile == 3 { writer.bit(false) }
    writer.bit(true)
    writer.bits(slot, 3)
    return RepeatFrame(bytes: writer.bytes, isLastShown: isLastShown)
  }

  /// A black keyframe of the size of the frame that was shown last; nil before the first, and for other profiles than 0.
  func blackKeyframe() -> [UInt8]? {
    let frame = shown.map(VP9BlackFrame.init)
    return frame.flatMap { $0.isSupported ? $0.bytes : nil }
  }
}
