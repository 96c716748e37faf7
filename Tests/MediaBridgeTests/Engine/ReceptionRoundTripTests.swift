import BridgeTesting
import Logging
import MediaCore
import PeerTransport
import RTP
import SDP
import Testing

@testable import MediaBridge

/// Who asks for lost packets knows how long the way to the server is.
@Suite struct ReceptionRoundTripTests {
  private func packet(_ number: UInt16) -> RTPPacket {
    RTPPacket(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(number), timestamp: UInt32(number) * 3600,
      ssrc: SSRC(10), marker: true, payload: [0x10, 0, 2, 3])
  }

  /// How often a packet would be asked for within 100 ms: once without a round trip.
  private func requests(_ receiver: RTPReceiver, behind number: UInt16) -> Int {
    var receiver = receiver
    let start = MediaTime.now + .seconds(10)
    _ = receiver.receive(packet(number), at: start)
    _ = receiver.receive(packet(number &+ 2), at: start)
    return (0..<100).count { delay in
      receiver.poll(at: start + .milliseconds(delay)).contains { report in
        if case .nack(let nack) = report { nack.lost.contains(SequenceNumber(number &+ 1)) } else { false }
      }
    }
  }

  private func makeReception(_ track: OfferedTrack) -> TrackReception {
    var configuration = RTPReceiver.Configuration(track)
    configuration.usesNACK = true
    return TrackReception(
      track, clock: ParticipantClock(), configuration: configuration, onOtherCodec: { _ in }, onStream: { _ in })
  }

  private func peer(on loop: TransportLoop, isServer: Bool, _ observer: PeerObserver) -> PeerConnection {
    var configuration = PeerConfiguration(isControlling: isServer, logger: Logger(label: "peer"))
    configuration.localAddresses = ["127.0.0.1"]
    return PeerConnection(loop: loop, configuration: configuration, delegate: observer)
  }

  @Test func receiversAreToldTheRoundTripOfTheConnection() async throws {
    let loops = [TransportLoop(name: "server"), TransportLoop(name: "client")]
    let core = LoopBound(SubscriberCore(loop: loops[1], logger: Logger(label: "core"), onLimit: { _ in }), on: loops[1])
    let found = Locked<PeerConnection?>(nil)
    var (serving, receiving) = (PeerObserver.Handlers(), PeerObserver.Handlers())
    serving.candidate = { candidate in found.withLock { $0 }?.add(remoteCandidate: candidate) }
    let served = PeerObserver(loop: loops[0], handlers: serving)
    let server = peer(on: loops[0], isServer: true, served)
    receiving.packet = { core.value.receive($0, at: $1) }
    receiving.candidate = { server.add(remoteCandidate: $0) }
    let received = PeerObserver(loop: loops[1], handlers: receiving)
    let client = peer(on: loops[1], isServer: false, received)
    found.withLock { $0 = client }

    let track = try #require(
      OfferedTrack(try OfferedTrackTests().section(), mids: [:], codecs: ["TR_VC": ["video/VP8"]]))
    let (section, reception) = (track.section, LoopBound(makeReception(track), on: loops[1]))
    await loops[1].call {
      core.value.peer = client
      core.value.update([(section: section, trackSid: "TR_VC")], [reception.value])
    }
    let offer = try #require(await server.localParameters(setup: .actpass))
    let answer = try #require(await client.localParameters(setup: .active))
    client.connect(to: offer, isDTLSClient: true)
    server.connect(to: answer, isDTLSClient: false)

    let newest = Locked(UInt16(0))
    try await eventually("requests by the round trip") {
      let number = newest.withLock { number in
        number += 1
        return number
      }
      server.send(packet(number))
      return await loops[1].call { requests(reception.value.receiver, behind: number) } > 1
    }
    let later = LoopBound(makeReception(track), on: loops[1])
    let asked = await loops[1].call {
      core.value.update([(section: section, trackSid: "TR_VC")], [later.value])
      return requests(later.value.receiver, behind: 1)
    }
    #expect(asked > 1, "what is subscribed later is told at once")
    await loops[1].call {
      core.value.stop()
      core.value.peer = nil
    }
    found.withLock { $0 = nil }
    for peer in [client, server] { await peer.close() }
    for loop in loops { await loop.stop() }
    withExtendedLifetime((served, received)) {}
  }
}
