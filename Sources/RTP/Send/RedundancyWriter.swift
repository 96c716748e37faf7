public import MediaCore

/// Sends each payload of audio once more with the next one (RFC 2198): one that is lost alone is there again 20 ms later,
/// and nobody has to ask for it. libwebrtc repeats one payload, too. Pure.
public struct RedundancyWriter: Sendable {
  /// What the fields of a block's header hold (RFC 2198, 3): 14 bits and 10.
  private static let (longestOffset, longestBlock): (UInt32, Int) = (0x3fff, 0x3ff)
  /// More than this makes a packet of its own more sense than one that is cut on its way.
  private static let longestPayload = 1180

  private let payloadType: PayloadType
  private var earlier: [UInt8] = []
  private var earlierTimestamp: UInt32 = 0
  /// Kept from packet to packet, so that it need not be allocated.
  private var written: [UInt8] = []

  /// - Parameter payloadType: of what is inside.
  public init(of payloadType: PayloadType) { self.payloadType = payloadType }

  /// Calls `body` with what goes into the packet.
  /// - Parameters:
  ///   - timestamp: of `payload`.
  ///   - isRepeating: whether the payload before goes along.
  mutating func write<R>(
    _ payload: UnsafeRawBufferPointer, timestamp: UInt32, isRepeating: Bool, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    written.removeAll(keepingCapacity: true)
    let offset = timestamp &- earlierTimestamp
    let fits = earlier.count <= Self.longestBlock && earlier.count + payload.count < Self.longestPayload
    if isRepeating, !earlier.isEmpty, fits, (1...Self.longestOffset).contains(offset) {
      let fields = offset << 10 | UInt32(earlier.count)
      written.append(0x80 | payloadType.rawValue)
      written.append(UInt8(truncatingIfNeeded: fields >> 16))
      written.append(UInt8(truncatingIfNeeded: fields >> 8))
      written.append(UInt8(truncatingIfNeeded: fields))
      written.append(payloadType.rawValue)
      written += earlier
    } else {
      written.append(payloadType.rawValue)
    }
    written += payload
    earlier.removeAll(keepingCapacity: true)
    earlier += payload
    earlierTimestamp = timestamp
    return written.withUnsafeBytes(body)
  }
}

extension RedundancyWriter {
  /// Makes a packet of another stream around the payload of one that was written elsewhere and the payload before it;
  /// keeps timestamp and marker.
  /// - Parameter payloadType: of the packet (`red`), not of what is inside.
  /// - Returns: nil for what is no RTP, or has no payload.
  public mutating func repack(
    _ bytes: UnsafeRawBufferPointer, payloadType: PayloadType, sequenceNumber: SequenceNumber, ssrc: SSRC,
    extensions: [(id: UInt8, value: [UInt8])] = [], isRepeating: Bool
  ) -> RTPPacket? {
    guard let (header, payload) = RTPHeader.payload(of: bytes) else { return nil }
    return write(payload, timestamp: header.timestamp, isRepeating: isRepeating) { payload in
      RTPPacket(
        payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: header.timestamp, ssrc: ssrc,
        marker: header.marker, extensions: extensions, payload: payload)
    }
  }
}
