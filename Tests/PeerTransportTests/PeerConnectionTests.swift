import BridgeTesting
import Foundation
import MediaCore
import PeerTransport
import RTP
import SDP
import Testing

@Suite(.serialized) struct PeerConnectionTests {
  @Test func packetsArriveAsSent() async throws {
    let pair = try await PeerPair.connected()
    let payload = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    for number in 0..<50 {
      pair.offerer.send(makePacket(number, payload))
    }
    let arrived = try await pair.answererEvents.packets(50)
    #expect(arrived.map(\.sequence) == (0..<50).map { UInt16($0) })
    #expect(arrived.allSatisfy { $0.payload == payload })
    await pair.close()
  }

  /// A busy machine does not come to a loop for a while; what arrives meanwhile waits at the socket.
  @Test(.enabled(if: systemReceiveBuffer >= 2 << 20, "net.core.rmem_max is below 2 MiB"))
  func aBurstWaitsForABusyLoop() async throws {
    let pair = try await PeerPair.connected()
    let end = DispatchSemaphore(value: 0)
    pair.loops[1].post { end.wait() }
    let payload = [UInt8](repeating: 7, count: 1100)
    for number in 0..<600 { pair.offerer.send(makePacket(number, payload)) }
    // All before it is done.
    await pair.loops[0].call {}
    end.signal()
    let arrived = try? await pair.answererEvents.packets(600)
    #expect(arrived?.map(\.sequence) == (0..<600).map { UInt16($0) }, "\(pair.answererEvents.packetCount) came")
    await pair.close()
  }

  @Test(arguments: ["SRTP_AEAD_AES_128_GCM", "SRTP_AEAD_AES_256_GCM", "SRTP_AES128_CM_SHA1_80"])
  func everyProfileCarriesReports(profile: String) async throws {
    let pair = try await PeerPair.connected { $0.srtpProfiles = [profile] }
    let report = RTCPPacket.pictureLossIndication(sender: SSRC(1), media: SSRC(2))
    pair.answerer.send([report])
    #expect(try await pair.offererEvents.reports(1) == [report])
    await pair.close()
  }

  @Test func aForeignCertificateIsRefused() async throws {
    let pair = PeerPair()
    let wrong = Fingerprint(algorithm: "sha-256", value: Array(repeating: "00", count: 32).joined(separator: ":"))
    try await pair.connect { $0.fingerprints = [wrong] }
    let failed = try await pair.offererEvents.state { if case .failed = $0 { true } else { false } }
    #expect(failed == .failed(.fingerprintMismatch))
    await pair.close()
  }

  @Test func dataChannelsOpenOnBothSides() async throws {
    let pair = PeerPair()
    pair.offerer.openDataChannel(label: "_reliable")
    pair.offerer.openDataChannel(label: "_lossy", isOrdered: false, maxRetransmits: 0)
    try await pair.connect()
    #expect(Set(try await pair.answererEvents.channels(2).map(\.label)) == ["_reliable", "_lossy"])
    let opened = try await pair.offererEvents.channels(2)
    let reliable = try #require(opened.first { $0.label == "_reliable" })
    let large = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 / 7) }
    pair.offerer.send(large, on: reliable)
    #expect(try await pair.answererEvents.messages(1).first == large)
    let back = try #require(try await pair.answererEvents.channels(2).first { $0.label == "_reliable" })
    pair.answerer.send(Array("hello".utf8), isText: true, on: back)
    #expect(try await pair.offererEvents.messages(1).first == Array("hello".utf8))
    await pair.close()
  }

  /// LiveKit's server answers no SCTP where a publisher has described media alone, however long it is waited for.
  @Test func dataChannelsAreSetUpOnceTheyAreDescribed() async throws {
    let pair = PeerPair()
    let (offer, answer) = try await pair.connect(hasDataChannels: false)
    pair.offerer.openDataChannel(label: "_reliable")
    _ = try await pair.offererEvents.state { $0 == .connected }
    for number in 0..<50 { pair.offerer.send(makePacket(number, [7])) }
    _ = try await pair.answererEvents.packets(50)
    #expect(try await pair.offererEvents.channels(0).isEmpty)
    pair.answerer.connect(to: offer, isDTLSClient: true)
    pair.offerer.connect(to: answer, isDTLSClient: false)
    #expect(try await pair.answererEvents.channels(1).map(\.label) == ["_reliable"])
    await pair.close()
  }

  /// libnice's checks have a timer of 5 ms, which it leaves running for five seconds.
  @Test func aConnectionWithoutTrafficSleeps() async throws {
    let pair = try await PeerPair.connected()
    try await eventually("a loop that sleeps", within: .seconds(3)) {
      let before = wakeUps(ofThread: "offerer")
      try await Task.sleep(for: .milliseconds(200))
      return wakeUps(ofThread: "offerer") - before < 20
    }
    await pair.close()
  }

  @Test func theRoundTripIsMeasured() async throws {
    let pair = try await PeerPair.connected()
    let duration = try await eventually("an answered heartbeat") { await pair.answerer.measureRoundTrip() }
    #expect(duration > .zero && duration < .seconds(2))
    #expect(await pair.answerer.isAnswered(within: .seconds(2)))
    await pair.close()
    #expect(await pair.answerer.measureRoundTrip() == nil)
  }

  @Test func aSilentPeerFailsWithTheCandidatesTried() async throws {
    let pair = PeerPair { $0.connectTimeout = .milliseconds(300) }
    let answerer = try #require(await pair.answerer.localParameters(setup: .active))
    pair.offerer.connect(to: answerer, isDTLSClient: false)
    pair.offerer.add(remoteCandidate: "candidate:1 1 UDP 2130706431 127.0.0.1 9 typ host")
    let failed = try await pair.offererEvents.state { if case .failed = $0 { true } else { false } }
    guard case .failed(.iceFailed(let tried)) = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    #expect(tried.contains("remote udp 127.0.0.1:9 host"))
    #expect(tried.contains("local udp 127.0.0.1:"))
    await pair.close()
  }

  /// LiveKit's server names no UDP any more once that has failed, and answers it all the same.
  @Test func whatARestartDoesNotNameIsNotTried() async throws {
    let pair = PeerPair { $0.connectTimeout = .milliseconds(300) }
    var server = try #require(await pair.answerer.localParameters(setup: .actpass))
    pair.offerer.connect(to: server, isDTLSClient: true)
    pair.offerer.add(remoteCandidate: "candidate:1 1 UDP 2130706431 127.0.0.1 9 typ host")
    (server.iceUfrag, server.icePwd) = ("anew", "0123456789012345678901")
    pair.offerer.connect(to: server, isDTLSClient: true)
    pair.offerer.add(remoteCandidate: "candidate:2 1 TCP 1671430143 127.0.0.1 9 typ host tcptype passive")
    let failed = try await pair.offererEvents.state { if case .failed = $0 { true } else { false } }
    guard case .failed(.iceFailed(let tried)) = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    #expect(tried.contains("remote tcp passive 127.0.0.1:9 host"))
    #expect(!tried.contains("udp 127.0.0.1:9 host"))
    await pair.close()
  }

  /// Where UDP is blocked, the passive TCP candidate of a server is what is left (RFC 6544).
  @Test func tcpCandidatesConnect() async throws {
    let pair = try await PeerPair.connected(candidates: { $0.contains(" TCP ") })
    let payload = [UInt8](repeating: 7, count: 1200)
    for number in 0..<200 { pair.offerer.send(makePacket(number, payload)) }
    let arrived = try await pair.answererEvents.packets(200)
    #expect(arrived.allSatisfy { $0.payload == payload })
    await pair.close()
  }

  @Test func aPeerThatEndsTheSessionIsNoticed() async throws {
    let pair = try await PeerPair.connected()
    // Until SCTP stands, its end would be what is noticed.
    pair.offerer.openDataChannel(label: "_reliable")
    _ = try await pair.offererEvents.channels(1)
    await pair.answerer.close()
    let failed = try await pair.offererEvents.state { if case .failed = $0 { true } else { false } }
    #expect(failed == .failed(.closedByPeer))
    await pair.close()
  }

  @Test func aRelayThatGivesNothingIsNamed() async throws {
    let relays = ["turn:127.0.0.1:9?transport=udp", "turns:127.0.0.1:9"]
    let pair = PeerPair {
      $0.connectTimeout = .milliseconds(300)
      $0.servers.list = [ICEServer(urls: relays, username: "user", credential: "a-credential")]
    }
    let answerer = try #require(await pair.answerer.localParameters(setup: .active))
    pair.offerer.connect(to: answerer, isDTLSClient: false)
    let failed = try await pair.offererEvents.state { if case .failed = $0 { true } else { false } }
    guard case .failed(let error) = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    for relay in relays { #expect("\(error)".contains(relay)) }
    #expect(!"\(error)".contains("a-credential"))
    await pair.close()
  }

  /// For what gathers next, as a restart does.
  @Test func onlyRelaysMayBeAskedForLater() async throws {
    let pair = PeerPair { $0.connectTimeout = .milliseconds(300) }
    pair.offerer.use(ICEServers(isRelayOnly: true))
    let answerer = try #require(await pair.answerer.localParameters(setup: .active))
    pair.offerer.connect(to: answerer, isDTLSClient: false)
    _ = try await pair.offererEvents.state { if case .failed = $0 { true } else { false } }
    #expect(pair.offererEvents.candidates.isEmpty)
    await pair.close()
  }

  /// A peer that has heard of it sends nothing on the way there was.
  @Test func aRestartThatFindsNoWayIsALoss() async throws {
    let pair = try await PeerPair.connected()
    let begun = MediaTime.now
    pair.offerer.restartICE()
    _ = try await pair.offererEvents.state(within: .seconds(20)) { if case .disconnected = $0 { true } else { false } }
    #expect(MediaTime.now - begun > .seconds(8))
    await pair.close()
  }

  @Test func restartedICEKeepsTheSession() async throws {
    let pair = try await PeerPair.connected()
    pair.offerer.restartICE()
    pair.answerer.restartICE()
    let offer = try #require(await pair.offerer.localParameters(setup: .actpass))
    let answer = try #require(await pair.answerer.localParameters(setup: .active))
    pair.offerer.connect(to: answer, isDTLSClient: false)
    pair.answerer.connect(to: offer, isDTLSClient: true)
    try await eventually {
      pair.offerer.send(makePacket(1, [1, 2, 3]))
      return pair.answererEvents.packetCount > 0
    }
    await pair.close()
  }

  @Test func theAnswerToARestartHasTheCredentialsInForce() async throws {
    let pair = try await PeerPair.connected()
    let before = try #require(await pair.answerer.localParameters(setup: .active))
    let unchanged = try #require(await pair.offerer.localParameters(setup: .actpass))
    #expect(await pair.answerer.localParameters(answering: unchanged, setup: .active) == before)
    pair.offerer.restartICE()
    let offer = try #require(await pair.offerer.localParameters(setup: .actpass))
    let answer = try #require(await pair.answerer.localParameters(answering: offer, setup: .active))
    #expect(answer.iceUfrag != before.iceUfrag && answer.icePwd != before.icePwd)
    pair.answerer.connect(to: offer, isDTLSClient: true)
    #expect(await pair.answerer.localParameters(setup: .active) == answer)
    pair.offerer.connect(to: answer, isDTLSClient: false)
    #expect(await pair.offerer.localParameters(setup: .actpass) == offer)
    try await eventually {
      pair.offerer.send(makePacket(1, [1, 2, 3]))
      return pair.answererEvents.packetCount > 0
    }
    await pair.close()
  }

  /// This machine may have other addresses than before.
  @Test func candidatesAreGatheredAnewByARestart() async throws {
    let pair = try await PeerPair.connected()
    let before = pair.offererEvents.candidates
    #expect(!before.isEmpty)
    pair.offerer.restartICE()
    try await eventually { pair.offererEvents.candidates.count == 2 * before.count }
    // One that only calls has no port of its own.
    let ports = pair.offererEvents.candidates.map { $0.contains("tcptype active") ? "" : $0 }
    #expect(Set(ports[..<before.count]).intersection(ports[before.count...]) == [""])
    await pair.close()
  }

  /// Packets take the way that there was until the peer has answered, however often ICE is restarted until then.
  @Test func aRestartInterruptsNothing() async throws {
    let pair = try await PeerPair.connected()
    for _ in 0..<3 { pair.offerer.restartICE() }
    let offer = try #require(await pair.offerer.localParameters(setup: .actpass))
    for number in 0..<10 { pair.offerer.send(makePacket(number, [1])) }
    _ = try await pair.answererEvents.packets(10)
    let answer = try #require(await pair.answerer.localParameters(answering: offer, setup: .active))
    for number in 0..<10 { pair.answerer.send(makePacket(number, [2])) }
    _ = try await pair.offererEvents.packets(10)
    pair.answerer.connect(to: offer, isDTLSClient: true)
    pair.offerer.connect(to: answer, isDTLSClient: false)
    for number in 10..<20 { pair.offerer.send(makePacket(number, [3])) }
    _ = try await pair.answererEvents.packets(20)
    #expect(pair.offererEvents.states.allSatisfy { $0 == .connecting || $0 == .connected })
    await pair.close()
  }

  @Test func aConnectionCanCloseWhileICERestarts() async throws {
    let pair = try await PeerPair.connected()
    pair.offerer.restartICE()
    pair.answerer.restartICE()
    await pair.close()
    #expect(pair.offererEvents.states.last == .closed)
    pair.offerer.restartICE()
    #expect(await pair.offerer.localParameters(setup: .actpass) == nil)
  }

  /// As pion writes them: each in every offer, and for a component that is not there.
  @Test func repeatedCandidatesChangeNothing() async throws {
    let pair = try await PeerPair.connected()
    for candidate in pair.offererEvents.candidates {
      for component in ["1", "2"] {
        var fields = candidate.split(separator: " ").map(String.init)
        fields[1] = component
        for _ in 0..<10 { pair.answerer.add(remoteCandidate: fields.joined(separator: " ")) }
      }
    }
    try await eventually {
      pair.offerer.send(makePacket(1, [1, 2, 3]))
      return pair.answererEvents.packetCount > 0
    }
    #expect(pair.answererEvents.states == [.connecting, .connected])
    await pair.close()
  }

  @Test func nothingIsLeftAfterClosing() async throws {
    try await connectAndClose()
    let before = Footprint.current
    for _ in 0..<20 { try await connectAndClose() }
    try await eventually { Footprint.current.descriptors <= before.descriptors }
    #expect(Footprint.current.threads <= before.threads + 2)
  }

  private func connectAndClose() async throws {
    let pair = try await PeerPair.connected()
    await pair.close()
  }
}

/// The largest receive buffer that a program may ask for.
private let systemReceiveBuffer =
  (try? String(contentsOfFile: "/proc/sys/net/core/rmem_max", encoding: .utf8))
  .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0

func makePacket(_ number: Int, _ payload: [UInt8]) -> RTPPacket {
  payload.withUnsafeBytes {
    RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: number)),
      timestamp: UInt32(number) * 3000, ssrc: SSRC(0x1234), payload: $0)
  }
}

/// How often a thread of this process, which the test has to itself, has waited.
private func wakeUps(ofThread name: String) -> Int {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  let status = tasks.lazy.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/status", encoding: .utf8) }
  let own = status.first { $0.hasPrefix("Name:\t\(name)\n") }
  let line = own?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
  return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
}
