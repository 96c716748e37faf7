import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

/// Packets that go into a pipeline in their order, without a jitter buffer.
@Suite(.serialized) struct PacketInputTests {
  private static let head = "appsrc name=rtp caps=\"application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8\""
  private static let tee = "tee name=media allow-not-linked=true"

  private func input(_ template: String) throws -> (pipeline: Pipeline, input: PacketInput) {
    let pipeline = try Pipeline(description: "\(Self.head) ! \(template)", name: "packets")
    return (pipeline, try pipeline.packetInput(named: "rtp", onKeyframeRequest: {}))
  }

  @Test func aJitterBufferThatOnlyPutsInOrderIsTakenOut() throws {
    let told = try input("rtpjitterbuffer name=jitter latency=300 do-lost=true ! rtpvp8depay ! \(Self.tee)")
    #expect(told.input.sequencing?.latency == .milliseconds(300) && told.input.sequencing?.tellsLosses == true)
    #expect(Set(told.pipeline.factories) == ["rtpvp8depay", "tee"])
    let silent = try input("rtpjitterbuffer name=jitter faststart-min-packets=1 ! rtpvp8depay ! \(Self.tee)")
    #expect(silent.input.sequencing?.latency == .milliseconds(200) && silent.input.sequencing?.tellsLosses == false)
  }

  @Test func whatOnlyAddsToTheFormatIsTakenOutWithIt() throws {
    let added = "capssetter caps=\"application/x-rtp,payload=96,encoding-name=VP8-DRAFT-IETF-01,title=(string)mine\""
    let jitter = "rtpjitterbuffer name=jitter"
    let (pipeline, input) = try input("\(jitter) ! \(added) ! rtpvp8depay ! \(Self.tee)")
    #expect(Set(pipeline.factories) == ["rtpvp8depay", "tee"])
    let format = "media=video,clock-rate=90000,encoding-name=VP8-DRAFT-IETF-01,payload=96,title=(string)mine"
    #expect(input.acceptedCaps == Caps("application/x-rtp,\(format)"))
    for other in ["\(added) replace=true", "\(added) join=false"] {
      let stays = try self.input("\(jitter) ! \(other) ! rtpvp8depay ! \(Self.tee)")
      #expect(stays.input.sequencing != nil && stays.pipeline.factories.contains("capssetter"))
    }
  }

  /// What a template asks for beyond order is the element's to do, and what may take long keeps a thread of its own.
  @Test(arguments: [
    "rtpjitterbuffer name=jitter drop-on-latency=true ! rtpvp8depay ! \(tee)",
    "rtpjitterbuffer name=jitter mode=none ! rtpvp8depay ! \(tee)",
    "rtpjitterbuffer name=mine ! rtpvp8depay ! \(tee)",
    "rtpjitterbuffer name=jitter ! rtpvp8depay ! vp8dec ! \(tee)",
    "rtpjitterbuffer name=jitter ! rtpvp8depay ! \(tee) ! fakesink",
    "rtpjitterbuffer name=jitter ! rtpvp8depay ! fakesink",
  ])
  func aJitterBufferThatDoesMoreStays(_ template: String) throws {
    let (pipeline, input) = try input(template)
    #expect(input.sequencing == nil)
    #expect(pipeline.factories.contains("rtpjitterbuffer") && !pipeline.factories.contains("appsrc"))
  }

  /// An appsrc would have posted it, once.
  @Test func whatIsRefusedIsAnError() async throws {
    let head = "appsrc name=rtp caps=\"application/x-rtp,media=video,clock-rate=90000,encoding-name=H264\""
    let pipeline = try Pipeline(
      description: "\(head) ! rtpjitterbuffer name=jitter ! rtpvp8depay name=depay ! \(Self.tee)", name: "packets")
    let errors = errors(of: pipeline)
    let input = try pipeline.packetInput(named: "rtp", onKeyframeRequest: {})
    #expect(input.sequencing != nil)
    try pipeline.start()
    input.begin(input.acceptedCaps)
    for packet in try await TestStream.video("vp8", count: 2).flatMap({ $0 }) {
      input.push([AppSource.Packet(packet.buffer, start: 0, count: packet.buffer.count, dts: .now)])
    }
    try await eventually("the error") { errors.count > 0 }
    #expect(await pipeline.stop())
    #expect(errors.values.map(\.element) == ["depay"])
  }

  /// A shipped template with one output that has a thread of its own.
  private struct Receiver {
    let pipeline: Pipeline
    let input: PacketInput
    let media = Collector<MediaBuffer>()
    private let branch: TeeBranch

    init(_ codec: String, _ output: String) throws {
      let filled = try Shipped.store.find(.receive, codec).fill([:])
      let trunk = filled.trunk(withoutBranches: ["encoded", "frames", "pcm"])
      pipeline = try Pipeline(description: trunk, name: codec)
      input = try pipeline.packetInput(named: "rtp", onKeyframeRequest: {})
      let description = try #require(filled.branch(endingIn: output))
      branch = try pipeline.makeBranch(
        description: description.description, behindTee: description.tee, inlet: { _, _ in true })
      let media = media
      try branch.appSink(named: output) { media.add($0) }
      try pipeline.start()
      let accepted = try #require(input.acceptedCaps)
      input.begin(Caps("\(accepted), payload=(int)96"))
      branch.start(with: { [] })
    }

    func push(_ packets: [TestPacket], at time: MediaTime) {
      input.push(packets.map { AppSource.Packet($0.buffer, start: 0, count: $0.buffer.count, dts: time) })
    }
  }

  @Test(arguments: ["vp8", "vp9", "h264", "av1"]) func framesComeOutAsTheyWentInAtTheirTimes(_ codec: String)
    async throws
  {
    let receiver = try Receiver(codec, "frames")
    #expect(receiver.input.sequencing?.latency == .milliseconds(500))
    let times = (0..<40).map { MediaTime.now + .milliseconds(40 * $0) }
    for (frame, time) in zip(try await TestStream.video(codec, count: 40), times) { receiver.push(frame, at: time) }
    try await eventually("all frames") { receiver.media.count == 40 }
    let readings = receiver.media.values.compactMap { VideoFrameBuffer($0).flatMap(NumberedFrame.read) }
    #expect(readings.map(\.number) == Array(0..<40) && readings.allSatisfy { $0.meanError < 6 })
    #expect(receiver.media.values.map(\.pts) == times)
    await receiver.pipeline.stop()
  }

  /// Of 50 packets of 20 ms.
  private func samples(isLossTold: Bool) async throws -> Int {
    let receiver = try Receiver("opus", "pcm")
    let (start, step) = (MediaTime.now, Duration.milliseconds(20))
    for (index, packet) in try await TestStream.audio(count: 50).enumerated() {
      if index != 25 {
        receiver.push([packet], at: start + step * index)
      } else if isLossTold {
        receiver.input.skip(packet.number, at: start + step * index, duration: step)
      }
    }
    let end = start + step * 48
    try await eventually("the last audio") { receiver.media.values.last?.pts.map { $0 > end } ?? false }
    await receiver.pipeline.stop()
    return receiver.media.values.compactMap { AudioBuffer($0)?.frameCount }.reduce(0, +)
  }

  @Test func aDecoderMakesUpForAPacketThatDoesNotCome() async throws {
    let (made, missing) = (try await samples(isLossTold: true), try await samples(isLossTold: false))
    #expect(made - missing == 960)
  }
}

extension TestPacket {
  fileprivate var number: UInt16 { buffer.withUnsafeBytes { UInt16($0[2]) << 8 | UInt16($0[3]) } }
}
