/// Follows VP9 frames as far as needed to hold a picture.
struct VP9Stream: Sendable {
  private var slots = ReferenceSlots(count: 8)
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
      endsHidden = false
    case .coded(let refreshed, let isShown):
      // Of the spatial layers in one super-frame a decoder shows the last one only.
      slots.store(refreshed, isShown: isShown && isLast)
      endsHidden = !isShown
    }
  }

  /// A frame that shows what a slot holds, `show_existing_frame`.
  func picture() -> HeldPicture? {
    // Decoders disagree on whether the next frame may take vectors from a hidden one with a shown one between them.
    guard !endsHidden, let (slot, isLastShown) = slots.newestShown else { return nil }
    var writer = BitWriter()
    writer.bits(0b10, 2)
    writer.bits(profile & 1, 1)
    writer.bits(profile >> 1, 1)
    if profile == 3 { writer.bit(false) }
    writer.bit(true)
    writer.bits(slot, 3)
    return HeldPicture(bytes: writer.bytes, isLastShown: isLastShown)
  }
}
