import BridgeTesting
import Egress
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// A composite in a room that subscribes to nothing by itself.
@Suite struct RoomCompositeTests {
  private let folder: TemporaryFolder
  /// What the server was asked to send by the one who mixes.
  private let asked = Collector<Livekit_UpdateTrackSettings>()

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ file: String = "a.mkv", of participants: [String] = [],
    _ body: (Room, RoomComposite, SyntheticRoom) async throws -> Void
  ) async throws {
    let size = Dimensions(width: 320, height: 180)
    let server = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "vp8"], size: size) {
      [asked] identity, request in
      if identity == "mixer", case .trackSetting(let settings) = request.message { asked.add(settings) }
    }
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    var options = CompositeOptions(file: "\(folder.path)/\(file)", wait: .seconds(20))
    options.participants = participants
    let composite = RoomComposite(room: room, options: options)
    try await composite.start()
    try await body(room, composite, server)
    await room.disconnect()
    await server.stop()
  }

  /// Sizes in the order in which they were asked for, those of a track that was asked for twice by what came last.
  private func sizes() -> [String] {
    let last = Dictionary(asked.values.flatMap { ask in ask.trackSids.map { ($0, ask) } }) { $1 }
    return last.values.filter { !$0.disabled && $0.width > 0 }.map { "\($0.width)x\($0.height)" }
  }

  @Test func valuesAreForTheTemplatesThatHaveThem() async throws {
    func prepare(_ values: [String: String], file: String = "a.mkv") async throws {
      let options = CompositeOptions(file: "\(folder.path)/\(file)", values: values)
      let composite = RoomComposite(room: Room(), options: options)
      do { try await composite.prepare() } catch {
        _ = try? await composite.finish()
        throw error
      }
      _ = try await composite.finish()
    }
    try await prepare(["delay": "200000000", "audio-delay": "500000000", "bitrate": "1000", "cluster": "500000000"])
    for values in [["dealy": "1"], ["delay": "mauve"]] {
      await #expect(throws: LiveKitError.self) { try await prepare(values) }
    }
    await #expect(throws: LiveKitError.self, "whose file would it be?") {
      try await prepare([:], file: "{publisher_identity}.mkv")
    }
  }

  @Test func theWaitForSomebodyHasAnEnd() async throws {
    let server = try await SyntheticRoom.start(codecs: [:])
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let composite = RoomComposite(
      room: room, options: CompositeOptions(file: folder.path + "/a.mkv", wait: .milliseconds(300)))
    let told = Collector<String>(composite.events) { if case .waiting(let missing) = $0 { missing } else { nil } }
    let error = await #expect(throws: LiveKitError.self) { try await composite.start() }
    #expect(error?.code == .timedOut && error?.message.contains("check the room's name") == true)
    try await eventually("all told") { told.values == ["somebody to publish"] }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    await room.disconnect()
    await server.stop()
  }

  /// Luma in the middle of each half.
  private static func halves(_ frame: VideoFrame) -> [Int] {
    frame.buffer.withPlanes { planes in
      planes[0].map { plane in
        [60, 220].map { left in
          (left..<left + 40).reduce(0) { $0 + Int(plane.bytes[90 * plane.stride + $1]) } / 40
        }
      } ?? []
    } ?? []
  }

  /// Not black, which would blink.
  @Test func whoLeavesIsSeenUntilTheLayoutChanges() async throws {
    let size = Dimensions(width: 320, height: 180)
    let server = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "vp8"], size: size)
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let seen = Locked<[[Int]]>([])
    var options = CompositeOptions(file: "", wait: .seconds(20))
    options.size = size
    let composite = RoomComposite(framesOf: room, options: options) { frame in
      let halves = Self.halves(frame)
      seen.withLock { $0.append(halves) }
    }
    try await composite.start()
    try await eventually("both") { seen.withLock { $0.last }?.allSatisfy { $0 > 30 } == true }
    let before = seen.withLock { $0.count }
    await server.publishers["bob"]?.disconnect()
    try await eventually("that it is known") { room.remoteParticipants["bob"] == nil }
    let after = seen.withLock { $0.count }
    try await eventually("a second of alice alone") { seen.withLock { $0.count } > after + 30 }
    let frames = seen.withLock { $0 }[(before - 1)...]
    // Of alice the left half of her tile is seen there then, which is brighter.
    let small = frames.filter { abs($0[0] - 128) < 10 }
    #expect(!small.isEmpty && small.allSatisfy { abs($0[1] - 128) < 10 }, "\(frames)")
    #expect(frames.last.map { $0[0] > 140 } == true, "\(frames)")
    _ = try await composite.finish()
    await room.disconnect()
    await server.stop()
  }

  @Test func whoIsLeftOutIsNotSubscribedTo() async throws {
    try await run(of: ["a*"]) { room, composite, _ in
      let tracks = room.remoteParticipants.mapValues { Array($0.trackPublications.values) }
      #expect(tracks["alice"]?.count == 2 && tracks["alice"]?.allSatisfy(\.isSubscribed) == true)
      #expect(tracks["bob"]?.count == 2 && tracks["bob"]?.contains(where: \.isSubscribed) == false)
      _ = try await composite.finish()
    }
  }

  @Test func destinationsComeAndGo() async throws {
    try await run { _, composite, _ in
      try await composite.add(OutputDestination(folder.path + "/b.mp4"))
      try await eventually("its beginning") {
        let late = await composite.progress().destinations.last
        return late?.state == .active && late?.duration ?? .zero > .milliseconds(500)
      }
      let gone = try await composite.remove(folder.path + "/a.mkv")
      #expect(gone.state == .complete && gone.duration > .milliseconds(500))
      await #expect(throws: LiveKitError.self, "the last one") { try await composite.remove(folder.path + "/b.mp4") }
      let done = try await composite.finish()
      #expect(done.destinations.map(\.state) == [.complete, .complete] && done.destinations[1].tracks.count == 2)
    }
  }

  @Test func whatIsNotMixedCannotBeAdded() async throws {
    try await run("a.ogg") { _, composite, _ in
      let error = await #expect(throws: LiveKitError.self) {
        try await composite.add(OutputDestination(folder.path + "/b.mp4"))
      }
      #expect(error?.message.contains("b.mp4: it is to have video") == true)
      _ = try await composite.finish()
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.ogg"])
    }
  }

  /// As the table of LiveKit Egress has it, in even numbers.
  @Test func nineAreAskedForAsNinths() async throws {
    try await run { _, composite, server in
      for name in ["carol", "dave", "eve", "frank", "grace", "heidi", "ivan"] { try await server.join(name) }
      try await eventually("ninths", within: .seconds(90)) {
        let sizes = sizes()
        return sizes.count == 9 && Set(sizes) == ["426x240", "428x240"]
      }
      #expect(sizes().count { $0 == "426x240" } == 6)
      _ = try await composite.finish()
    }
  }

  /// A text of somebody's own, in which each tile fails after some frames, and fails again when it is tried again.
  @Test func aTileThatFailsEndsNothing() async throws {
    let texts = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: texts.path + "/tile", withIntermediateDirectories: true)
    try """
    appsrc name=video max-buffers=30 max-bytes=0 leaky-type=downstream min-latency=0 max-latency=1000000000
    ! identity name=spoiler error-after=20 ! videoconvertscale
    ! capsfilter name=size caps=video/x-raw,format=I420,width=320,height=180,pixel-aspect-ratio=1/1
    """.write(toFile: texts.path + "/tile/video.pipeline", atomically: true, encoding: .utf8)
    let server = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "vp8"])
    var roomOptions = RoomOptions(autoSubscribe: false, audioPlayback: .off)
    roomOptions.pipelineFolder = texts.path
    let room = Room(roomOptions: roomOptions)
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let options = CompositeOptions(file: folder.path + "/a.mkv", wait: .seconds(20))
    let composite = RoomComposite(room: room, options: options)
    let told = Collector<String>(composite.events) {
      if case .omitted(let omission) = $0 { "\(omission)" } else { nil }
    }
    try await composite.start()
    try await eventually("both failures") { told.count == 2 }
    let before = await composite.elapsed
    try await eventually("that it goes on") { await composite.elapsed > before + .seconds(1) }
    let done = try await composite.finish()
    #expect(done.destinations.map(\.state) == [.complete] && done.duration > before)
    #expect(Set(done.omissions.map(\.participant)) == ["alice", "bob"])
    #expect(
      done.omissions.allSatisfy { $0.wasWanted && $0.kind == .video && $0.reason.contains("pipeline:2: spoiler") })
    await room.disconnect()
    await server.stop()
  }

  /// Nobody asks how far it is before its end.
  @Test func theManifestKnowsWhoHasLeft() async throws {
    try await run { room, composite, server in
      let carol = try await server.join("carol")
      try await eventually("something of carol's") {
        let tracks = room.remoteParticipants["carol"]?.trackPublications.values.map { $0 }
        return tracks?.count == 2 && tracks?.allSatisfy(\.isSubscribed) == true && sizes().count == 3
      }
      let before = await composite.elapsed
      try await eventually("some packets of hers") { await composite.elapsed > before + .milliseconds(500) }
      await carol.disconnect()
      try await eventually("her leaving") { room.remoteParticipants["carol"] == nil }
      _ = try await composite.finish()
      let manifest = try #require(await composite.manifests.first)
      let hers = manifest.tracks.filter { $0.publisherIdentity == "carol" }
      #expect(Set(hers.map(\.kind)) == ["video", "audio"] && hers.allSatisfy { $0.packets > 0 }, "\(hers)")
      #expect(manifest.tracks.count == 6 && manifest.playlists == nil && manifest.egressId == nil)
    }
  }

  /// What is mixed later than usual is in the file to its end, and from its beginning on. A mixer waits so long for one who
  /// sends nothing; this text always does.
  @Test func whatIsMixedLateIsNotMissing() async throws {
    let texts = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: texts.path + "/mix", withIntermediateDirectories: true)
    try """
    audiomixer name=audiomix start-time-selection=first latency=${audio-delay:-0} output-buffer-duration=20000000
    ! audioconvert ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
    ! queue min-threshold-time=2700000000 max-size-time=4000000000 max-size-buffers=0 max-size-bytes=0
    ! appsink name=pcm sync=false async=false
    audiotestsrc is-live=true do-timestamp=true wave=silence samplesperbuffer=960
    ! audio/x-raw,format=F32LE,layout=interleaved,rate=48000,channels=2 ! queue ! audiomix.
    """.write(toFile: texts.path + "/mix/audio.pipeline", atomically: true, encoding: .utf8)
    let server = try await SyntheticRoom.start()
    var roomOptions = RoomOptions(autoSubscribe: false, audioPlayback: .off)
    roomOptions.pipelineFolder = texts.path
    let room = Room(roomOptions: roomOptions)
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let file = folder.path + "/late.wav"
    var options = CompositeOptions(
      destinations: [OutputDestination(file, output: "wav")], values: ["audio-delay": "2750000000"])
    options.kinds = [.audio]
    let composite = RoomComposite(room: room, options: options)
    try await composite.start()
    try await eventually("two seconds") { await composite.elapsed > .seconds(2) }
    let elapsed = await composite.elapsed
    let done = try await composite.finish()
    #expect(done.omissions.isEmpty && done.mixLosses?.audioLate == 0)
    let peaks = try peaks(of: file)
    #expect(.milliseconds(peaks.count * 20) > elapsed - .milliseconds(150), "\(peaks.count * 20) ms of \(elapsed)")
    #expect(peaks.count { $0 < 500 } < 10, "\(peaks)")
    await room.disconnect()
    await server.stop()
  }

  /// The loudest sample of each 20 ms.
  private func peaks(of file: String) throws -> [Int] {
    let samples = try Data(contentsOf: URL(fileURLWithPath: file)).dropFirst(44).withUnsafeBytes {
      Array($0.bindMemory(to: Int16.self))
    }
    return stride(from: 0, to: samples.count - 1920, by: 1920).map { start in
      samples[start..<start + 1920].map { abs(Int($0)) }.max() ?? 0
    }
  }

  /// Alice is heard; for bob, who sends nothing, the mixer waits as long as it may.
  /// - Returns: the loudest sample of each 20 ms of the mix.
  private func hear(
    texts: String? = nil, values: [String: String] = [:],
    _ body: (SyntheticRoom, RoomComposite) async throws -> Void
  ) async throws -> [Int] {
    let size = Dimensions(width: 320, height: 180)
    let server = try await SyntheticRoom.start(codecs: ["alice": "vp8", "bob": "vp8"], size: size)
    try await server.publishers["bob"]?.localParticipant.setMicrophone(enabled: false)
    var roomOptions = RoomOptions(autoSubscribe: false, audioPlayback: .off)
    roomOptions.pipelineFolder = texts
    let room = Room(roomOptions: roomOptions)
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let file = folder.path + "/heard.wav"
    var options = CompositeOptions(
      destinations: [OutputDestination(file, output: "wav")], wait: .seconds(20), values: values)
    options.kinds = [.audio]
    let composite = RoomComposite(room: room, options: options)
    try await composite.start()
    try await body(server, composite)
    _ = try await composite.finish()
    await room.disconnect()
    await server.stop()
    return try peaks(of: file)
  }

  @Test func whoLeavesIsHeardToTheEnd() async throws {
    var left = Duration.zero
    let peaks = try await hear(values: ["audio-delay": "2000000000"]) { server, composite in
      try await eventually("some audio") { await composite.elapsed > .seconds(3) }
      let elapsed = await composite.elapsed
      await server.publishers["alice"]?.disconnect()
      try await eventually("her end in the mix") { await composite.elapsed > elapsed + .seconds(3) }
      left = elapsed
    }
    let heard = Duration.milliseconds(20) * ((peaks.lastIndex { $0 > 500 } ?? 0) + 1)
    #expect(heard > left - .milliseconds(800) && heard < left + .seconds(2), "\(heard) of \(left)")
  }

  /// What the text before had not mixed yet is waited for, as is what the new one mixes later.
  @Test func aLongerDelayLeavesNothingOut() async throws {
    let texts = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: texts.path + "/mix", withIntermediateDirectories: true)
    func write(latency: Int) throws {
      try """
      audiomixer name=audiomix start-time-selection=first latency=\(latency) output-buffer-duration=20000000
      ! audioconvert ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
      ! appsink name=pcm sync=false async=false
      audiotestsrc is-live=true do-timestamp=true wave=silence samplesperbuffer=960
      ! audio/x-raw,format=F32LE,layout=interleaved,rate=48000,channels=2 ! queue ! audiomix.
      """.write(toFile: texts.path + "/mix/audio.pipeline", atomically: true, encoding: .utf8)
    }
    try write(latency: 1_000_000_000)
    let peaks = try await hear(texts: texts.path) { _, composite in
      let told = Collector<String>(composite.events) { if case .reloaded = $0 { "reloaded" } else { nil } }
      try await eventually("some audio") { await composite.elapsed > .seconds(2) }
      try write(latency: 2_750_000_000)
      try await eventually("the new text") { told.values == ["reloaded"] }
      let before = await composite.elapsed
      try await eventually("audio that it mixes") { await composite.elapsed > before + .seconds(3) }
    }
    #expect(peaks.count > 350 && peaks.count { $0 < 500 } < 20, "\(peaks)")
  }

  @Test func aTileIsAskedForAsLargeAsItIsSeen() async throws {
    try await run { room, composite, server in
      try await eventually("halves") { sizes() == ["640x720", "640x720"] }
      let carol = try await server.join("carol")
      try await eventually("quarters") { sizes() == ["640x360", "640x360", "640x360"] }
      await composite.set(layout: .speaker)
      try await eventually("one large, and the strip") {
        Set(sizes()) == ["1066x720", "214x134", "214x132"] || Set(sizes()) == ["1066x720", "214x134"]
      }
      await carol.disconnect()
      let progress = try await composite.finish()
      #expect(progress.omissions.isEmpty && progress.duration > .zero)
      #expect(
        progress.tracks.count == 2 && progress.tracks.allSatisfy { $0.packetsReceived > 10 && $0.packetsLost == 0 })
      try await eventually("the end of the subscriptions") {
        room.remoteParticipants.values.flatMap { $0.trackPublications.values }.allSatisfy { !$0.isSubscribed }
      }
    }
  }
}
