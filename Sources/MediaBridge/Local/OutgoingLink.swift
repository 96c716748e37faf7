import MediaCore
import PeerTransport
import RTP

/// A packet on its way.
struct OutgoingPacket: Sendable {
  var packet: RTPPacket
  /// The header extension of the transport-wide number; nil where there is none.
  var numberID: UInt8?
  /// One that is sent again as it was keeps its number, as encryption needs.
  var isNew = true
  /// Nil for what does not wait.
  var priority: Pacer<Self>.Priority?
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
    var pacer = Pacer<OutgoingPacket>()
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

  /// Sends a packet when its turn comes.
  func send(_ packet: OutgoingPacket) {
    let bytes = packet.packet.count + LinkEstimate.overhead
    guard let priority = packet.priority else {
      let now = MediaTime.now
      state.value.pacer.pass(bytes: bytes, at: now)
      return put(packet, at: now)
    }
    // The first keyframe of a layer sets the pace at which it goes.
    if case .layer = priority, !state.value.shares.knows(packet.packet.ssrc) { divide(at: .now) }
    state.value.pacer.push(packet, of: packet.packet.ssrc, bytes: bytes, priority)
    if state.value.nextPacket == nil { sendWaiting() }
  }

  private func sendWaiting() {
    let now = MediaTime.now
    while let packet = state.value.pacer.pop(at: now) { put(packet, at: now) }
    state.value.nextPacket = state.value.pacer.delay(at: now).map { delay in
      let bound = LoopBound(Weak(self), on: loop)
      return loop.after(max(delay, Self.step)) { bound.value.object?.sendWaiting() }
    }
  }

  /// Notes a packet that goes now, and gives a new one its transport-wide number where it has room for one.
  private func put(_ outgoing: OutgoingPacket, at time: MediaTime) {
    let packet = outgoing.packet
    let number = outgoing.numberID.flatMap { outgoing.isNew ? write($0, packet) : Self.number($0, of: packet) }
    state.value.controller.sent(bytes: packet.count, number: number, at: time)
    state.value.peer?.sendOnLoop(packet)
    if case .layer = outgoing.priority, packet.marker { probeTail(of: packet.ssrc, at: time) }
  }

  /// The receiver has asked for packets of a stream of video.
  func lost(of ssrc: SSRC, at time: MediaTime) { state.value.probes.lost(of: ssrc, at: time) }

  /// Has what was lost of a frame that has just gone asked for before the next one comes.
  private func probeTail(of ssrc: SSRC, at time: MediaTime) {
    guard state.value.probes.isWanted(for: ssrc, at: time) else { return }
    putProbe(of: ssrc, at: time)
    let bound = LoopBound(Weak(self), on: loop)
    loop.after(TailProbes.delay) { bound.value.object?.putProbe(of: ssrc, at: .now) }
  }

  private func putProbe(of ssrc: SSRC, at time: MediaTime) {
    guard state.value.pacer.isEmpty, let layer = layers().first(where: { $0.stream.ssrc == ssrc }) else { return }
    if let padding = layer.stream.makePadding(1) { put(padding, at: time) }
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
    let largest = layers().last { bitrates[$0.stream.ssrc] != nil && $0.demand.rank != nil }
    while left > 0, let packet = largest?.stream.makePadding(.max) {
      left -= packet.packet.count + LinkEstimate.overhead
      put(packet, at: now)
    }
    let bound = LoopBound(Weak(self), on: loop)
    state.value.nextPadding = loop.after(Self.step) { bound.value.object?.pad() }
  }
}
