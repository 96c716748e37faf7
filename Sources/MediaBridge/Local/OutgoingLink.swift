import GStreamerKit
import MediaCore
import PeerTransport
import RTP

/// A packet that has its number.
struct OutgoingPacket: Sendable {
  var packet: RTPPacket
  /// The header extension of the transport-wide number; nil where there is none.
  var numberID: UInt8?
  /// One that is sent again as it was keeps its number, as encryption needs.
  var isNew = true
}

/// What is to be sent, and may be dropped before.
enum WaitingPacket: Sendable {
  /// What a payloader made, which has no number yet.
  case new(MediaBuffer, of: OutgoingRTP)
  /// What was sent before.
  case again(OutgoingPacket)
}

/// The way to the server, which all that is sent shares: finds out how much it carries, gives each layer its share, and
/// lets no more go at once than passes.
final class OutgoingLink: Sendable {
  /// A class, so that nothing of it is copied for a packet.
  private final class State {
    var controller: any CongestionController = DelayAndLossController()
    var shares = LinkShares()
    var repeats = RepeatAllowance()
    var probes = TailProbes()
    var pacer = Pacer<WaitingPacket>()
    var number = SequenceNumber(0)
    var timer: LoopTimer?
    /// Nil before the start, and once it has stopped.
    var peer: PeerConnection?
    /// Runs while packets wait.
    var nextPacket: LoopTimer?
    /// Runs while the link is probed.
    var nextPadding: LoopTimer?
  }

  private static let interval = Duration.milliseconds(200)
  /// Threads that wake for each packet cost more than they gain.
  private static let step = Duration.milliseconds(5)

  private let loop: TransportLoop
  private let layers: @Sendable () -> [OutgoingLayer]
  private let state: LoopBound<State>

  /// - Parameter layers: all that are sent, from the smallest on in each track; called on the loop.
  init(loop: TransportLoop, layers: @escaping @Sendable () -> [OutgoingLayer]) {
    (self.loop, self.layers) = (loop, layers)
    state = LoopBound(State(), on: loop)
  }

  func start(through peer: PeerConnection) {
    loop.run { [self] in
      state.value.peer = peer
      tick()
    }
  }

  /// What waits goes at once.
  func stop() {
    loop.run { [self] in
      state.value.timer?.cancel()
      state.value.nextPacket?.cancel()
      state.value.nextPadding?.cancel()
      state.value.pacer.pace(to: LinkEstimate(bitrate: 0, limit: .none), sending: 0)
      sendWaiting()
      state.value.peer = nil
    }
  }

  // All of these are called on the loop.

  /// Sends what a payloader made when its turn comes; audio does not wait.
  func send(_ media: MediaBuffer, of stream: OutgoingRTP) {
    // What waited for ever would keep its stream, and that this link.
    guard state.value.peer != nil else { return }
    guard let rank = stream.rank else { return sendAtOnce(.new(media, of: stream)) }
    // The first keyframe of a layer sets the pace at which it goes.
    if !state.value.shares.knows(stream.ssrc) { divide(at: .now) }
    let bytes = media.size + OutgoingRTP.extensionLength + LinkEstimate.overhead
    enqueue(.new(media, of: stream), of: stream.ssrc, bytes: bytes, .layer(rank))
  }

  /// Sends a packet once more, ahead of what is new.
  func sendAgain(_ packet: OutgoingPacket, waits: Bool) {
    guard waits else { return sendAtOnce(.again(packet)) }
    enqueue(.again(packet), of: packet.packet.ssrc, bytes: packet.packet.count + LinkEstimate.overhead, .again)
  }

  private func enqueue(
    _ packet: WaitingPacket, of ssrc: SSRC, bytes: Int, _ priority: Pacer<WaitingPacket>.Priority
  ) {
    state.value.pacer.push(packet, of: ssrc, bytes: bytes, priority)
    if state.value.nextPacket == nil { sendWaiting() }
  }

  private func sendAtOnce(_ packet: WaitingPacket) {
    let now = MediaTime.now
    guard let bytes = release(packet, at: now) else { return }
    state.value.pacer.pass(bytes: bytes + LinkEstimate.overhead, at: now)
  }

  private func sendWaiting() {
    let now = MediaTime.now
    while let packet = state.value.pacer.pop(at: now) { release(packet, at: now) }
    state.value.nextPacket = state.value.pacer.delay(at: now).map { delay in
      let bound = LoopBound(Weak(self), on: loop)
      return loop.after(max(delay, Self.step)) { bound.value.object?.sendWaiting() }
    }
  }

  /// Has what waited go now.
  /// - Returns: bytes of the packet; nil where there is none.
  @discardableResult
  private func release(_ waiting: WaitingPacket, at time: MediaTime) -> Int? {
    switch waiting {
    case .again(let known):
      put(known, at: time)
      return known.packet.count
    case .new(let media, of: let stream):
      guard let made = stream.makePacket(media, at: time) else { return nil }
      put(made, at: time)
      if stream.rank != nil, made.packet.marker { probeTail(of: stream, at: time) }
      return made.packet.count
    }
  }

  /// Notes a packet that goes now, and gives a new one its transport-wide number where it has room for one.
  private func put(_ outgoing: OutgoingPacket, at time: MediaTime) {
    let packet = outgoing.packet
    let number = outgoing.numberID.flatMap { outgoing.isNew ? write($0, packet) : Self.number($0, of: packet) }
    state.value.controller.sent(bytes: packet.count, number: number, at: time)
    state.value.peer?.sendOnLoop(packet)
  }

  /// The receiver has asked for packets of a stream of video.
  func lost(of ssrc: SSRC, at time: MediaTime) { state.value.probes.lost(of: ssrc, at: time) }

  /// Has what was lost of a frame that has just gone asked for before the next one comes.
  private func probeTail(of stream: OutgoingRTP, at time: MediaTime) {
    guard state.value.probes.isWanted(for: stream.ssrc, at: time) else { return }
    putProbe(of: stream, at: time)
    let bound = LoopBound(Weak(self), on: loop)
    loop.after(TailProbes.delay) { bound.value.object?.putProbe(of: stream, at: .now) }
  }

  private func putProbe(of stream: OutgoingRTP, at time: MediaTime) {
    if let padding = stream.makePadding(1, at: time) { put(padding, at: time) }
  }

  /// Whether there is room to send a packet again.
  func hasRoom(toRepeat packet: RTPPacket) -> Bool {
    state.value.repeats.takes(packet.count, within: state.value.controller.estimate, at: .now)
  }

  private static func number(_ id: UInt8, of packet: RTPPacket) -> SequenceNumber? {
    packet.headerExtensionInteger(id).map { SequenceNumber(UInt16(truncatingIfNeeded: $0)) }
  }

  private func write(_ id: UInt8, _ packet: RTPPacket) -> SequenceNumber? {
    let number = state.value.number
    let isWritten = withUnsafeBytes(of: number.rawValue.bigEndian) { packet.setHeaderExtension(id, $0) }
    guard isWritten else { return nil }
    state.value.number = number.successor
    return number
  }

  /// Takes what the server reports of any stream of the connection.
  func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    let decreases = state.value.controller.estimate.decreases
    for report in reports { state.value.controller.receive(report, at: time) }
    // What is too much waits in a queue meanwhile.
    if state.value.controller.estimate.decreases != decreases { divide(at: time) }
  }

  private func tick() {
    let now = MediaTime.now
    state.value.controller.advance(to: now)
    divide(at: now)
    let bound = LoopBound(Weak(self), on: loop)
    state.value.timer = loop.after(Self.interval) { bound.value.object?.tick() }
  }

  private func divide(at time: MediaTime) {
    let wanted = layers().filter(\.isWanted)
    state.value.shares.divide(state.value.controller.estimate, among: wanted.map(\.demand), at: time)
    let bitrates = state.value.shares.bitrates
    state.value.pacer.pace(to: state.value.controller.estimate, sending: bitrates.values.reduce(0, +))
    for layer in wanted {
      let share = bitrates[layer.stream.ssrc]
      if share == nil { state.value.pacer.drop(layer.stream.ssrc) }
      layer.set(share: share)
    }
    if let bitrate = state.value.shares.probe, state.value.controller.missingPadding(at: time) == nil {
      state.value.controller.probe(bitrate, at: time)
      pad()
    }
  }

  /// Fills up what is sent while the link is probed, behind what waits: its numbers are of one row.
  private func pad() {
    let now = MediaTime.now
    guard let missing = state.value.controller.missingPadding(at: now) else { return }
    var left = state.value.pacer.isEmpty ? missing : 0
    let bitrates = state.value.shares.bitrates
    let largest = layers().last { bitrates[$0.stream.ssrc] != nil && $0.stream.rank != nil }
    while left > 0, let packet = largest?.stream.makePadding(.max, at: now) {
      left -= packet.packet.count + LinkEstimate.overhead
      put(packet, at: now)
    }
    let bound = LoopBound(Weak(self), on: loop)
    state.value.nextPadding = loop.after(Self.step) { bound.value.object?.pad() }
  }
}
