import MediaCore
import RTP
import SDP
import Testing

@testable import PeerTransport

@Suite struct SRTPSessionTests {
  private func session(isClient: Bool) throws -> SRTPSession {
    let profile = SRTPProfile.aeadAES128GCM
    let material = (0..<profile.materialLength).map { UInt8(truncatingIfNeeded: $0) }
    return try #require(
      SRTPSession(keys: SRTPKeys(profile: profile.rawValue, material: material), isClient: isClient))
  }

  private func packet(_ number: UInt16, of source: SSRC, from session: SRTPSession) throws -> [UInt8] {
    let packet = RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: 0, ssrc: source,
      payload: [1, 2, 3])
    let buffer = packet.withUnsafeBytes { PacketBuffer(copying: $0) }
    let length = buffer.count
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.flatMap { session.protect($0, count: length, isRTCP: false) }
    }
    buffer.count = try #require(count)
    return buffer.withUnsafeBytes { Array($0) }
  }

  private func isUnderstood(_ packet: [UInt8], by session: SRTPSession) -> Bool {
    session.unprotect(PacketBuffer(copying: packet), isRTCP: false)
  }

  /// What is kept of a source is what tells its packets from replays.
  @Test func ofASourceThatIsForgottenNothingIsKept() throws {
    let (client, server) = (try session(isClient: true), try session(isClient: false))
    let staying = try packet(1, of: SSRC(0x0102_0304), from: client)
    let ending = try packet(1, of: SSRC(0x0506_0708), from: client)
    for packet in [staying, ending] {
      #expect(isUnderstood(packet, by: server))
      #expect(!isUnderstood(packet, by: server))
    }
    server.forget(SSRC(0x0506_0708))
    server.forget(SSRC(0x0909_0909))
    #expect(isUnderstood(ending, by: server))
    #expect(!isUnderstood(staying, by: server))
    #expect(isUnderstood(try packet(2, of: SSRC(0x0102_0304), from: client), by: server))
  }

  @Test func whatIsAnnouncedNoMoreIsForgotten() throws {
    let (client, server) = (try session(isClient: true), try session(isClient: false))
    var security = PeerSecurity()
    security.srtp = server
    let packets = try (1...3 as ClosedRange<UInt32>).map { try packet(1, of: SSRC($0), from: client) }
    security.announce([SSRC(1), SSRC(2)])
    for packet in packets { #expect(isUnderstood(packet, by: server)) }
    security.announce([SSRC(2), SSRC(4)])
    // What was never announced is not known to have ended.
    #expect(packets.map { isUnderstood($0, by: server) } == [true, false, false])
  }

  @Test func theSourcesAreThoseOfAllSections() throws {
    var description = SessionDescription(origin: .init(sessionID: 1, sessionVersion: 1))
    for (index, direction) in [Direction.sendonly, .inactive].enumerated() {
      var section = MediaSection(kind: .video)
      section.mid = "\(index)"
      section.direction = direction
      section.transport.iceUfrag = "u"
      section.transport.icePwd = "p"
      section.transport.fingerprints = [Fingerprint(algorithm: "sha-256", value: "AA")]
      section.sources = [UInt32(10), 20].map { SourceDescription(ssrc: SSRC($0 + UInt32(index))) }
      description.media.append(section)
    }
    let parameters = try #require(TransportParameters(description))
    #expect(parameters.sources == [SSRC(10), SSRC(11), SSRC(20), SSRC(21)])
  }
}
