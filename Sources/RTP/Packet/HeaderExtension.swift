/// The elements of a header extension (RFC 8285), in its one-byte (0xBEDE) and two-byte (0x100x) form.
extension RTPPacket {
  /// The value of element `id` for the time of the call; nil when it is not there.
  public func withHeaderExtension<R>(_ id: UInt8, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
    guard let element = headerExtension(id) else { return nil }
    return withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[element.value])) }
  }

  /// The number that an element of 1…8 bytes holds, such as a transport-wide sequence number.
  public func headerExtensionInteger(_ id: UInt8) -> UInt64? {
    guard let element = headerExtension(id), (1...8).contains(element.value.count) else { return nil }
    return withUnsafeBytes { bytes in element.value.reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
  }

  /// Writes the value of element `id` in place.
  /// - Returns: false, and nothing is written, unless the packet has that element with just this length.
  @discardableResult
  public func setHeaderExtension(_ id: UInt8, _ value: UnsafeRawBufferPointer) -> Bool {
    guard let element = headerExtension(id), element.value.count == value.count else { return false }
    buffer.withUnsafeMutableBytes { bytes in
      UnsafeMutableRawBufferPointer(rebasing: bytes[(start + element.value.lowerBound)...]).copyMemory(from: value)
    }
    return true
  }

  /// Gives elements other ids in place, since each peer connection negotiates its own; nil removes one, which leaves
  /// padding in its place. A new id must fit the form that the packet uses (1…14 in the one-byte form).
  public func renameHeaderExtensions(_ newID: (UInt8) -> UInt8?) {
    guard let block = extensionBlock, let form = ExtensionBlock.Form(profile: block.profile) else { return }
    var offset = block.offset
    while let element = withUnsafeBytes({ block.element(at: offset, in: $0, form) }) {
      offset = element.value.upperBound
      let id = newID(element.id).flatMap { form.ids.contains($0) ? $0 : nil }
      guard id != element.id else { continue }
      buffer.withUnsafeMutableBytes { bytes in
        if let id {
          let first = start + element.start
          bytes[first] = form == .oneByte ? id << 4 | bytes[first] & 15 : id
        } else {
          for index in element.start..<element.value.upperBound { bytes[start + index] = 0 }
        }
      }
    }
  }

  private func headerExtension(_ id: UInt8) -> ExtensionBlock.Element? {
    extensionBlock.flatMap { block in withUnsafeBytes { block.element(id, in: $0) } }
  }
}

extension RTPPacket.ExtensionBlock {
  enum Form {
    case oneByte
    case twoByte

    init?(profile: UInt16) {
      if profile == 0xbede {
        self = .oneByte
      } else if profile & 0xfff0 == 0x1000 {
        self = .twoByte
      } else {
        return nil
      }
    }
    var ids: ClosedRange<UInt8> { self == .oneByte ? 1...14 : 1...255 }
  }

  /// Offsets are counted from the packet's start.
  struct Element {
    var id: UInt8
    var start: Int
    var value: Range<Int>
  }

  /// Element `id` of the packet `bytes`, whose block this is.
  func element(_ id: UInt8, in bytes: UnsafeRawBufferPointer) -> Element? {
    guard let form = Form(profile: profile), id != 0 else { return nil }
    var offset = offset
    while let element = element(at: offset, in: bytes, form) {
      if element.id == id { return element }
      offset = element.value.upperBound
    }
    return nil
  }

  /// The next element at or after `offset`; nil at the end, which id 15 of the one-byte form also means.
  func element(at offset: Int, in bytes: UnsafeRawBufferPointer, _ form: Form) -> Element? {
    let end = self.offset + count
    var start = offset
    while start < end && bytes[start] == 0 { start += 1 }
    guard start + (form == .oneByte ? 1 : 2) <= end else { return nil }
    let id = form == .oneByte ? bytes[start] >> 4 : bytes[start]
    if form == .oneByte && id == 15 { return nil }
    let first = start + (form == .oneByte ? 1 : 2)
    let last = first + (form == .oneByte ? Int(bytes[start] & 15) + 1 : Int(bytes[start + 1]))
    return last <= end ? Element(id: id, start: start, value: first..<last) : nil
  }
}
