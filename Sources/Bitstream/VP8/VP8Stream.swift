/// Follows VP8 frames as far as needed to repeat a frame, and to make a black one.
struct VP8Stream: RepeatableStream {
  enum Reference: Int, Sendable {
    case last
    case golden
    case altRef
  }

  private var slots = ReferenceSlots(count: 3)
  private var shape: VP8RepeatFrame.Shape?

  mutating func follow(_ frame: UnsafeRawBufferPointer) {
    guard let header = try? VP8FrameHeader(frame) else {
      slots.forgetAll()
      return
    }
    switch header.kind {
    case .key(let width, let height):
      shape = VP8RepeatFrame.Shape(width: width, height: height)
      slots.store(0b111, isShown: header.isShown)
    case .inter(let update): apply(update, isShown: header.isShown)
    }
    shape?.version = header.version
    shape?.isSegmented = header.isSegmented
  }

  private mutating func apply(_ update: VP8ReferenceUpdate, isShown: Bool) {
    let golden = Reference.golden.rawValue
    let altRef = Reference.altRef.rawValue
    if update.copyToGolden == 2, update.copyToAltRef == 2 {
      // Decoders differ in what an exchange of the two means.
      slots.forget(golden)
      slots.forget(altRef)
    } else {
      let before = slots
      if update.copyToGolden != 0 { slots.copy(update.copyToGolden == 1 ? 0 : altRef, of: before, to: golden) }
      if update.copyToAltRef != 0 { slots.copy(update.copyToAltRef == 1 ? 0 : golden, of: before, to: altRef) }
    }
    let mask =
      (update.refreshesLast ? 1 : 0) | (update.refreshesGolden ? 1 << golden : 0)
      | (update.refreshesAltRef ? 1 << altRef : 0)
    slots.store(mask, isShown: isShown)
  }

  func repeatFrame() -> RepeatFrame? {
    guard let shape, shape.isSupported, let (slot, isLastShown) = slots.newestShown,
      let reference = Reference(rawValue: slot)
    else { return nil }
    return RepeatFrame(bytes: VP8RepeatFrame(shape: shape, reference: reference).bytes, isLastShown: isLastShown)
  }

  /// A black keyframe of the size of the last frame; nil before the first one.
  func blackKeyframe() -> [UInt8]? {
    shape.flatMap { $0.isSupported ? VP8BlackFrame(shape: $0).bytes : nil }
  }
}
