import BridgeTesting
import Logging
import MediaCore
import PeerTransport
import RTP
import SDP
import Testing

/// What a peer told its delegate, to be waited for.
final class RecordedEvents: PeerConnectionDelegate {
  struct Packet: Sendable {
    var sequence: UInt16
    var payload: [UInt8]
  }
  private struct State {
    var packets: [Packet] = []
    var reports: [RTCPPacket] = []
    var channels: [DataChannel] = []
    var messages: [[UInt8]] = []
    var states: [PeerState] = []
    var candidates: [String] = []
    var onCandidate: (@Sendable (String) -> Void)?
  }
  private let state = Locked(State())

  func forwardCandidates(to other: PeerConnection, where isWanted: @escaping @Sendable (String) -> Bool) {
    state.withLock { $0.onCandidate = { [weak other] in if isWanted($0) { other?.add(remoteCandidate: $0) } } }
  }

  var candidates: [String] { state.withLock { $0.candidates } }
  var states: [PeerState] { state.withLock { $0.states } }
  var packetCount: Int { state.withLock { $0.packets.count } }

  func packets(_ count: Int) async throws -> [Packet] {
    try await eventually { self.packetCount >= count }
    return state.withLock { $0.packets }
  }
  func reports(_ count: Int) async throws -> [RTCPPacket] {
    try await eventually { self.state.withLock { $0.reports.count } >= count }
    return state.withLock { $0.reports }
  }
  func channels(_ count: Int) async throws -> [DataChannel] {
    try await eventually { self.state.withLock { $0.channels.count } >= count }
    return state.withLock { $0.channels }
  }
  func messages(_ count: Int) async throws -> [[UInt8]] {
    try await eventually { self.state.withLock { $0.messages.count } >= count }
    return state.withLock { $0.messages }
  }
  func state(
    within limit: Duration = .seconds(10), _ matches: @escaping @Sendable (PeerState) -> Bool
  ) async throws -> PeerState? {
    try await eventually(within: limit) { self.state.withLock { $0.states }.contains(where: matches) }
    return state.withLock { $0.states }.first(where: matches)
  }

  func peerConnection(_ peer: PeerConnection, didReceive packet: RTPPacket, at time: MediaTime) {
    let copy = Packet(sequence: packet.sequenceNumber.rawValue, payload: packet.withPayload { Array($0) })
    state.withLock { $0.packets.append(copy) }
  }
  func peerConnection(_ peer: PeerConnection, didReceive reports: [RTCPPacket], at time: MediaTime) {
    state.withLock { $0.reports += reports }
  }
  func peerConnection(_ peer: PeerConnection, didGather candidate: String) {
    let forward = state.withLock { state in
      state.candidates.append(candidate)
      return state.onCandidate
    }
    forward?(candidate)
  }
  func peerConnection(_ peer: PeerConnection, didChange newState: PeerState) {
    state.withLock { $0.states.append(newState) }
  }
  func peerConnection(_ peer: PeerConnection, didOpen channel: DataChannel) {
    state.withLock { $0.channels.append(channel) }
  }
  func peerConnection(_ peer: PeerConnection, didReceive message: [UInt8], isText: Bool, on channel: DataChannel) {
    state.withLock { $0.messages.append(message) }
  }
}

/// Two transports on loopback, each on a loop of its own.
final class PeerPair: Sendable {
  let offerer: PeerConnection
  let answerer: PeerConnection
  let offererEvents = RecordedEvents()
  let answererEvents = RecordedEvents()
  let loops = [TransportLoop(name: "offerer"), TransportLoop(name: "answerer")]

  /// - Parameter isWanted: which candidates reach the other side.
  init(
    _ configure: (inout PeerConfiguration) -> Void = { _ in },
    candidates isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
  ) {
    func configuration(isControlling: Bool) -> PeerConfiguration {
      var configuration = PeerConfiguration(isControlling: isControlling, logger: Logger(label: "peer"))
      configuration.localAddresses = ["127.0.0.1"]
      configure(&configuration)
      return configuration
    }
    offerer = PeerConnection(
      loop: loops[0], configuration: configuration(isControlling: true), delegate: offererEvents)
    answerer = PeerConnection(
      loop: loops[1], configuration: configuration(isControlling: false), delegate: answererEvents)
    offererEvents.forwardCandidates(to: answerer, where: isWanted)
    answererEvents.forwardCandidates(to: offerer, where: isWanted)
  }

  static func connected(
    _ configure: (inout PeerConfiguration) -> Void = { _ in },
    candidates isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws -> PeerPair {
    let pair = PeerPair(configure, candidates: isWanted)
    try await pair.connect()
    _ = try await pair.offererEvents.state { $0 == .connected }
    _ = try await pair.answererEvents.state { $0 == .connected }
    return pair
  }

  func connect(changingAnswer: (inout TransportParameters) -> Void = { _ in }) async throws {
    let offer = try #require(await offerer.localParameters(setup: .actpass))
    var answer = try #require(await answerer.localParameters(setup: .active))
    changingAnswer(&answer)
    answerer.connect(to: offer, isDTLSClient: true)
    offerer.connect(to: answer, isDTLSClient: false)
  }

  /// The descriptions of both sides, as they are when data channels are added to them.
  func connect(hasDataChannels: Bool) async throws -> (offer: TransportParameters, answer: TransportParameters) {
    let offer = try #require(await offerer.localParameters(setup: .actpass))
    let answer = try #require(await answerer.localParameters(setup: .active))
    var (first, second) = (offer, answer)
    first.hasDataChannels = hasDataChannels
    second.hasDataChannels = hasDataChannels
    answerer.connect(to: first, isDTLSClient: true)
    offerer.connect(to: second, isDTLSClient: false)
    return (offer, answer)
  }

  func close() async {
    await offerer.close()
    await answerer.close()
    for loop in loops { await loop.stop() }
  }
}
