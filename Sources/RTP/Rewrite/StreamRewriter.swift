public import Bitstream
public import MediaCore

/// Makes one outgoing stream out of several incoming ones that show the same thing, as simulcast layers do: numbers and
/// timestamps go on without a break where it changes from one to the other.
///
/// Pure, for one receiver of the stream. Packets of all layers go in; those of the selected one come out rewritten, in
/// memory of their own, since others get the same packets. A change waits for a keyframe of the new layer.
public struct StreamRewriter: Sendable {
  /// What the outgoing stream is.
  public struct Configuration: Sendable {
    /// Of the outgoing stream.
    public var ssrc: SSRC
    /// Ticks of the RTP timestamp per second, the same for all layers.
    public var clockRate: UInt32
    /// What the packets become; nil keeps their own type.
    public var payloadType: PayloadType?
    /// For video, to find keyframes and to continue VP8's picture ids; nil changes over at any packet.
    public var codec: VideoCodec?
    /// Of the first packet that goes out.
    public var firstSequenceNumber: SequenceNumber
    /// Which elements of the header extension go out, and under which ids (from incoming to outgoing); others are
    /// removed, since what they say (mid, rid) holds only on the connection that they came by.
    public var headerExtensions: [UInt8: UInt8]

    /// - Parameter codec: nil for audio, and where a change need not wait for a keyframe.
    public init(
      ssrc: SSRC, clockRate: UInt32, payloadType: PayloadType? = nil, codec: VideoCodec? = nil,
      firstSequenceNumber: SequenceNumber = SequenceNumber(1), headerExtensions: [UInt8: UInt8] = [:]
    ) {
      self.ssrc = ssrc
      self.clockRate = max(clockRate, 1)
      self.payloadType = payloadType
      self.codec = codec
      self.firstSequenceNumber = firstSequenceNumber
      self.headerExtensions = headerExtensions
    }
  }

  /// What it was made with, and has changed to since.
  public private(set) var configuration: Configuration
  /// The stream that is forwarded; nil before the first packet and while paused.
  public var current: SSRC? { isOpen ? segments.last?.source : nil }
  /// The stream whose keyframe is awaited.
  public private(set) var awaited: SSRC?

  /// The highest temporal layer of VP8 that goes out (RFC 7741, 4.2: TID); nil lets all through. Frames above it are
  /// left out without a hole in the numbers.
  public var temporalLayerLimit: UInt8?

  private var sources: RewriterSources
  private var segments: [RewriterSegment] = []
  private var isOpen = false
  private var output: RewriterOutput
  private typealias Held = (number: Int64, packet: RTPPacket, part: KeyframePart?)
  /// Packets of the awaited stream in their order: those that overtook the beginning of its keyframe, and parameter
  /// sets whose slice is still to come.
  private var held: [Held] = []

  /// Streams that late packets may still belong to.
  private static let segmentLimit = 4
  private var hasSeenParameterSets = false
  private static let heldLimit = 32

  /// Nothing goes out before `select`.
  public init(configuration: Configuration) {
    self.configuration = configuration
    sources = RewriterSources(clockRate: configuration.clockRate)
    output = RewriterOutput(clockRate: configuration.clockRate, first: configuration.firstSequenceNumber)
  }

  /// Changes over to `source` at its next keyframe, which the caller asks the sender for; nil pauses at once.
  public mutating func select(_ source: SSRC?) {
    held.removeAll(keepingCapacity: true)
    guard let source else {
      close()
      awaited = nil
      return
    }
    awaited = source == current ? nil : source
  }

  /// Goes on in another codec, behind all that went out: nothing more does before `select`.
  public mutating func change(to payloadType: PayloadType, codec: VideoCodec?) {
    select(nil)
    (configuration.payloadType, configuration.codec, hasSeenParameterSets) = (payloadType, codec, false)
  }

  /// Begins again at the next keyframe of the selected stream, for one who has lost track.
  mutating func restartAtKeyframe() {
    guard let current else { return }
    close()
    awaited = awaited ?? current
  }

  private mutating func close() {
    guard isOpen else { return }
    isOpen = false
    segments[segments.count - 1].last = segments[segments.count - 1].highest
  }

  /// A packet of our own behind all that went out, such as a frame of silence. It pauses the stream; what goes on after
  /// `select` comes behind its number, and what is late keeps the number from before.
  /// - Parameter step: ticks from the newest packet to this one.
  /// - Returns: nil before the first packet, and where packets keep their own type.
  public mutating func insert(_ payload: [UInt8], after step: UInt32, at time: MediaTime) -> RTPPacket? {
    guard let payloadType = configuration.payloadType, let newest = output.timestamp else { return nil }
    select(nil)
    let number = output.highest &+ 1
    output.note(number, timestamp: newest &+ step, frame: nil, at: time)
    return RTPPacket(
      payloadType: payloadType, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
      timestamp: newest &+ step, ssrc: configuration.ssrc, marker: true, payload: payload)
  }

  /// Notes a layer's sender report, by which timestamps of two layers are compared.
  public mutating func receive(_ report: SenderReport, at time: MediaTime) { sources.note(report, keeping: segments) }

  /// A moment of the forwarded stream's clock as the outgoing stream counts it, for its sender reports; nil for a
  /// stream that is not forwarded now.
  public func outgoingTimestamp(_ timestamp: UInt32, of source: SSRC) -> UInt32? {
    guard isOpen, let segment = segments.last, segment.source == source else { return nil }
    return timestamp &+ segment.timestampOffset
  }

  /// The outgoing packets that `packet` makes.
  public mutating func rewrite(_ packet: RTPPacket, at time: MediaTime) -> PacketBatch {
    let number = sources.extend(packet, keeping: segments)
    if let index = segments.lastIndex(where: { $0.contains(number, of: packet.ssrc) }) {
      if isOpen && index == segments.count - 1 && segments[index].isBreak(number) {
        restartAtKeyframe()
      } else {
        return forward(packet, number, by: index, at: time).map { PacketBatch($0) } ?? PacketBatch()
      }
    }
    guard packet.ssrc == awaited, !packet.isPaddingOnly else { return PacketBatch() }
    hold(packet, number)
    guard let first = beginning else { return PacketBatch() }
    return begin(with: first.packet, first.number, at: time)
  }

  private mutating func hold(_ packet: RTPPacket, _ number: Int64) {
    if held.count == Self.heldLimit { held.removeFirst() }
    let part = part(of: packet)
    let index = held.lastIndex { $0.number < number }.map { $0 + 1 } ?? 0
    held.insert((number, packet, part), at: index)
  }

  /// Where parameter sets stand before keyframes a change has to begin with them: a slice that overtook them would
  /// leave them behind, and a decoder with those of the other layer. As long as none has been seen the keyframe may have
  /// begun before.
  private mutating func part(of packet: RTPPacket) -> KeyframePart? {
    guard let codec = configuration.codec else { return .beginning }
    if packet.withPayload({ codec.startsParameterSets($0) }) == true { hasSeenParameterSets = true }
    let part = packet.withPayload { codec.keyframePart($0) }
    return part == .firstSlice && !hasSeenParameterSets ? .beginning : part
  }

  /// The packet that is the beginning of a keyframe of the awaited stream, as soon as that is certain: parameter sets
  /// may stand in front of any slice. Those of a frame that has no such slice, as of intra refresh, are one as well.
  private var beginning: Held? {
    var first: Held?
    var last: Int64?
    for entry in held {
      if let last, entry.number > last + 1 { first = nil }
      last = entry.number
      switch entry.part {
      case .beginning?: return first ?? entry
      case .firstSlice? where first != nil: return first
      case .laterSlice?: first = nil
      case .parameterSets? where first == nil: first = entry
      default: if let first, first.packet.timestamp != entry.packet.timestamp { return first }
      }
    }
    return nil
  }

  private mutating func begin(with packet: RTPPacket, _ number: Int64, at time: MediaTime) -> PacketBatch {
    let previous = segments.last
    close()
    var segment = RewriterSegment(source: packet.ssrc, first: number)
    segment.sequenceOffset = output.highest &+ 1 &- number
    let expected = previous.flatMap { sources.timestamp(of: packet, continuing: $0) }
    let ideal = output.timestamp(expected: expected, of: packet, at: time)
    segment.idealOffset = ideal &- packet.timestamp
    segment.timestampOffset = output.following(ideal) &- packet.timestamp
    if configuration.codec == .vp8 { segment.continueFrames(of: packet, after: output) }
    segments.append(segment)
    if segments.count > Self.segmentLimit { segments.removeFirst() }
    isOpen = true
    awaited = nil
    var batch = PacketBatch()
    for entry in held where entry.number >= number {
      if let copy = forward(entry.packet, entry.number, by: segments.count - 1, at: time) { batch.append(copy) }
    }
    held.removeAll(keepingCapacity: true)
    return batch
  }

  /// - Returns: nil for a packet above the temporal layer that is asked for.
  private mutating func forward(_ packet: RTPPacket, _ number: Int64, by index: Int, at time: MediaTime) -> RTPPacket? {
    if configuration.codec == .vp8, let limit = temporalLayerLimit,
      segments[index].drops(packet, number, above: limit)
    {
      return nil
    }
    segments[index].highest = max(segments[index].highest, number)
    let segment = segments[index]
    let outgoing = segment.outgoing(number)
    var copy = packet.copy()
    copy.rewrite(
      payloadType: configuration.payloadType, sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: outgoing)),
      timestamp: packet.timestamp &+ segment.timestampOffset, ssrc: configuration.ssrc)
    copy.renameHeaderExtensions { configuration.headerExtensions[$0] }
    let frame = configuration.codec == .vp8 ? segment.rewriteFrames(of: copy, number) : nil
    output.note(outgoing, timestamp: copy.timestamp, frame: frame, at: time)
    return copy
  }
}
