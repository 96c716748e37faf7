import Bitstream

/// Cuts temporal units of AV1 into payloads of packets (the AV1 RTP specification, 4 and 5).
public struct AV1Packetizer: Sendable {
  /// One payload: to be written where the packet is.
  public struct Payload {
    /// A part of an OBU, or all of it.
    fileprivate struct Element {
      var obu: AV1OBU
      /// Of the OBU without its size, header included.
      var range: Range<Int>
    }
    fileprivate var elements: [Element] = []
    fileprivate var startsSequence = false
    /// Bytes of it.
    public fileprivate(set) var count = AV1Packetizer.headerLength
    /// Whether the temporal unit ends with it, which the marker says.
    public fileprivate(set) var isLast = false
  }

  private static let headerLength = 1
  /// So many can be counted in the header; then the last one needs no length.
  private static let mostElements = 3
  /// A smaller piece of an OBU is not worth its length.
  private static let leastPiece = 16

  private let limit: Int

  /// - Parameter limit: bytes of a payload at most; at least 32.
  public init(limit: Int) { self.limit = max(limit, 32) }

  /// - Parameters:
  ///   - unit: a temporal unit in the low-overhead format. Delimiters, tile lists and padding are left out of packets.
  ///   - body: gets each payload in its order; may use it until it returns.
  public func packetize(_ unit: UnsafeRawBufferPointer, _ body: (Payload) -> Void) {
    let units = AV1OBUs(unit)
    var payload = Payload()
    payload.startsSequence = units.startsCodedSequence
    for obu in units where !Self.leftOut.contains(obu.kind) {
      var offset = 0
      while offset < obu.length {
        let room = payload.room(for: obu, limit: limit)
        if room < min(Self.leastPiece, obu.length - offset) {
          body(payload)
          payload.removeAll()
          continue
        }
        let end = min(offset + room, obu.length)
        payload.append(.init(obu: obu, range: offset..<end))
        offset = end
      }
    }
    guard !payload.elements.isEmpty else { return }
    payload.isLast = true
    body(payload)
  }

  private static let leftOut: Set<AV1OBU.Kind> = [.temporalDelimiter, .tileList, .padding]
}

extension AV1Packetizer.Payload {
  /// How much of an OBU fits. Units of two layers do not come in one packet.
  fileprivate func room(for obu: AV1OBU, limit: Int) -> Int {
    guard let last = elements.last else { return limit - count }
    let isOfOneLayer = last.obu.layer == nil || obu.layer == nil || last.obu.layer == obu.layer
    guard elements.count < AV1Packetizer.mostElements, isOfOneLayer else { return 0 }
    return max(0, limit - count - LEB128.length(of: last.range.count))
  }

  /// The memory stays.
  fileprivate mutating func removeAll() {
    elements.removeAll(keepingCapacity: true)
    (count, startsSequence) = (AV1Packetizer.headerLength, false)
  }

  fileprivate mutating func append(_ element: Element) {
    if let last = elements.last { count += LEB128.length(of: last.range.count) }
    count += element.range.count
    elements.append(element)
  }

  /// Writes the payload.
  /// - Parameter bytes: `count` of them at least.
  public func write(to bytes: UnsafeMutableRawBufferPointer) {
    guard let first = elements.first, let last = elements.last else { return }
    bytes[0] =
      (first.range.lowerBound > 0 ? AV1Aggregation.continues : 0)
      | (last.range.upperBound < last.obu.length ? AV1Aggregation.isContinued : 0)
      | UInt8(elements.count) << AV1Aggregation.countShift | (startsSequence ? AV1Aggregation.startsSequence : 0)
    var offset = AV1Packetizer.headerLength
    for (index, element) in elements.enumerated() {
      if index + 1 < elements.count { offset = LEB128.write(element.range.count, to: bytes, at: offset) }
      element.write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
      offset += element.range.count
    }
  }
}

extension AV1Packetizer.Payload.Element {
  fileprivate func write(to bytes: UnsafeMutableRawBufferPointer) {
    var offset = 0
    for place in range where place < obu.headerLength {
      bytes[offset] = place == 0 ? obu.header : obu.layer ?? 0
      offset += 1
    }
    let behind = (range.lowerBound + offset - obu.headerLength)..<(range.upperBound - obu.headerLength)
    UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: obu.payload[behind]))
  }
}

/// The first byte of a payload (the AV1 RTP specification, 4.4).
enum AV1Aggregation {
  /// Z: the first element goes on with the last one of the packet before.
  static let continues: UInt8 = 0x80
  /// Y: the last element goes on in the next packet.
  static let isContinued: UInt8 = 0x40
  /// W: how many elements there are; 0 where each has its length.
  static let countShift: UInt8 = 4
  /// N: a coded video sequence begins.
  static let startsSequence: UInt8 = 0x08
}
