public import MediaCore

// Editing writes into the packet's memory: only for a packet that nobody else holds, such as one that has just been
// received or a `copy()`.
extension RTPPacket {
  /// The same packet in memory of its own, to be edited.
  public func copy() -> RTPPacket {
    var packet = self
    packet.buffer = withUnsafeBytes { PacketBuffer(copying: $0) }
    packet.start = 0
    return packet
  }

  /// Writes header fields in place.
  public mutating func rewrite(
    payloadType: PayloadType? = nil, sequenceNumber: SequenceNumber? = nil, timestamp: UInt32? = nil,
    ssrc: SSRC? = nil, marker: Bool? = nil
  ) {
    self.payloadType = payloadType ?? self.payloadType
    self.sequenceNumber = sequenceNumber ?? self.sequenceNumber
    self.timestamp = timestamp ?? self.timestamp
    self.ssrc = ssrc ?? self.ssrc
    self.marker = marker ?? self.marker
    storeHeader()
  }

  /// Writes the fixed header's fields, apart from its first byte, from the properties.
  func storeHeader() {
    buffer.withUnsafeMutableBytes { bytes in
      bytes[start + 1] = (marker ? 0x80 : 0) | payloadType.rawValue
      bytes.store(sequenceNumber.rawValue, at: start + 2)
      bytes.store(timestamp, at: start + 4)
      bytes.store(ssrc.rawValue, at: start + 8)
    }
  }

  /// Takes a retransmission apart (RFC 4588, 4): the original number stands before the payload and moves into the
  /// header, which moves two bytes towards the payload; no byte of the payload moves. `self` is not to be used after.
  /// - Returns: nil for a retransmission too short to carry a number.
  public func unwrappingRetransmission(ssrc: SSRC, payloadType: PayloadType) -> RTPPacket? {
    guard payloadLength >= 2 else { return nil }
    let original = withPayload { SequenceNumber($0.load16(at: 0)) }
    var packet = droppingPayloadPrefix(2)
    packet.rewrite(payloadType: payloadType, sequenceNumber: original, ssrc: ssrc)
    return packet
  }

  /// Takes the first `length` bytes out of the payload by moving the header over them.
  func droppingPayloadPrefix(_ length: Int) -> RTPPacket {
    precondition((0...payloadLength).contains(length), "prefix longer than the payload")
    buffer.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      (base + start + length).copyMemory(from: base + start, byteCount: headerLength)
      // A sender may announce padding and write a length of none. Once the payload is gone, a byte of the header would
      // stand in that length's place.
      if paddingLength == 0 { bytes[start + length] &= ~0x20 }
    }
    var packet = self
    packet.start += length
    packet.count -= length
    return packet
  }

  /// Makes padding of the last `length` bytes of the payload; where there is too much of it, which can be 255 bytes (RFC
  /// 3550, 5.1), all stays as it is.
  func paddingPayloadSuffix(_ length: Int) -> RTPPacket {
    precondition((1...payloadLength).contains(length), "suffix longer than the payload")
    guard let padding = UInt8(exactly: paddingLength + length) else { return self }
    buffer.withUnsafeMutableBytes { bytes in
      bytes[start] |= 0x20
      bytes[start + count - 1] = padding
    }
    var packet = self
    packet.paddingLength += length
    return packet
  }

  /// A copy with `prefix` put before the payload and without padding, as a retransmission is made (RFC 4588, 4).
  func copy(prefixingPayload prefix: UInt16) -> RTPPacket {
    var packet = self
    packet.buffer = PacketBuffer(capacity: count + 2 - paddingLength)
    packet.start = 0
    packet.count = count + 2 - paddingLength
    packet.paddingLength = 0
    packet.buffer.count = packet.count
    withUnsafeBytes { source in
      packet.buffer.withUnsafeMutableBytes { bytes in
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<headerLength]))
        bytes[0] &= ~0x20
        bytes.store(prefix, at: headerLength)
        UnsafeMutableRawBufferPointer(rebasing: bytes[(headerLength + 2)...])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[headerLength..<(count - paddingLength)]))
      }
    }
    return packet
  }

  /// Gives the payload's bytes to `body` for editing in place.
  func withMutablePayload<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    let first = start + headerLength
    return buffer.withUnsafeMutableBytes {
      body(UnsafeMutableRawBufferPointer(rebasing: $0[first..<(first + payloadLength)]))
    }
  }
}
