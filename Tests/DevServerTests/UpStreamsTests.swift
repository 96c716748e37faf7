import LiveKitProtocol
import MediaCore
import RTP
import SDP
import Testing

@testable import DevServer

/// What of a publisher's connection is which track.
@Suite struct UpStreamsTests {
  private static let midID: UInt8 = 4

  /// An offer of a camera below mid 0, whose streams only the mid tells.
  private func offer(_ direction: Direction) throws -> SessionDescription {
    let text = """
      v=0
      o=- 1 1 IN IP4 0
      a=group:BUNDLE 0
      m=video 9 UDP/TLS/RTP/SAVPF 96 97
      a=mid:0
      a=rtcp-mux
      a=\(direction.rawValue)
      a=extmap:\(Self.midID) \(HeaderExtensionURI.mid)
      a=rtpmap:96 VP8/90000
      a=rtpmap:97 rtx/90000
      a=fmtp:97 apt=96
      """
    return try SessionDescription(parsing: direction.sends ? text + "\na=msid:stream camera" : text)
  }

  private struct Scene {
    var streams = UpStreams()
    let track: PublishedTrack
  }

  /// Of a camera that has been announced, and whose offer is answered.
  private func scene() throws -> Scene {
    var request = Livekit_AddTrackRequest()
    (request.cid, request.type) = ("camera", .video)
    let transport = LocalTransport(
      iceUfrag: "abcd", icePwd: "0123456789abcdefghijkl",
      fingerprint: Fingerprint(algorithm: "SHA-256", value: "aa:bb"))
    let answer = Answer(
      to: try offer(.sendonly), origin: SessionDescription.Origin(sessionID: 7, sessionVersion: 2),
      capabilities: .server(), transport: transport)
    var scene = Scene(track: PublishedTrack(request: request))
    scene.streams.tracks = [scene.track]
    scene.streams.sections = answer.sections
    return scene
  }

  private func packet(_ ssrc: UInt32, type: UInt8 = 96) -> RTPPacket {
    RTPPacket(
      payloadType: PayloadType(type), sequenceNumber: SequenceNumber(1), timestamp: 0, ssrc: SSRC(ssrc),
      extensions: [(Self.midID, Array("0".utf8))], payload: [0x10, 0, 0, 0])
  }

  @Test func aTrackThatNeverFlowedIsUnpublishedWithItsSection() throws {
    var scene = try scene()
    let (sending, ended) = (try offer(.sendonly), try offer(.inactive))
    #expect(scene.streams.removeEnded(in: ended).isEmpty, "announced, and not offered yet")
    #expect(scene.streams.removeEnded(in: sending).isEmpty)
    #expect(scene.streams.removeEnded(in: ended).map(\.sid) == [scene.track.sid])
    #expect(scene.streams.tracks.isEmpty)
  }

  @Test func aTrackGoesOnUnderAnotherSSRC() throws {
    var scene = try scene()
    for ssrc in UInt32(1)...20 {
      let found = scene.streams.stream(of: packet(ssrc))
      let layer = try #require(found?.layer)
      let forwarded = layer.receiver.receive(packet(ssrc), at: .now)
      #expect(layer.ssrc == SSRC(ssrc) && forwarded.count == 1)
      #expect(scene.track.layers.map(\.ssrc) == [SSRC(ssrc)])
      #expect(scene.streams.layers.count == 1 && scene.streams[SSRC(ssrc - 1)]?.layer == nil)
    }
  }

  @Test func aRetransmissionThatNamesNoLayerReplacesNone() throws {
    var scene = try scene()
    let (media, repair) = (scene.streams.stream(of: packet(1)), scene.streams.stream(of: packet(2, type: 97)))
    #expect(media?.layer != nil && repair?.layer == nil)
    #expect(scene.track.layers.map(\.ssrc) == [SSRC(1)] && scene.streams[SSRC(1)]?.layer != nil)
  }
}
