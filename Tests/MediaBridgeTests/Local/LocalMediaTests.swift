import BridgeTesting
import Logging
import MediaCore
import MediaPipelines
import PeerTransport
import Testing

@testable import MediaBridge

@Suite struct LocalMediaTests {
  /// Hands out what a test says.
  private final class Script: MediaCapture {
    let goesOnMuted: Bool
    /// Settled once its decoder may be made.
    let mayDecode = Outcome<Void, LiveKitError>()
    let decoder = Locked<Weak<MediaDecoder>?>(nil)
    private let handlers = Locked<CaptureHandlers?>(nil)
    /// How many decoders cannot be made before one can.
    private let failures: Locked<Int>

    init(goesOnMuted: Bool = false, decodesAtOnce: Bool = true, failures: Int = 0) {
      self.goesOnMuted = goesOnMuted
      self.failures = Locked(failures)
      if decodesAtOnce { mayDecode.settle(.success(())) }
    }

    var isCapturing: Bool { handlers.withLock { $0 != nil } }
    private let begun = Locked(0)
    /// How often it was started.
    var starts: Int { begun.withLock { $0 } }
    func start(_ handlers: CaptureHandlers) {
      begun.withLock { $0 += 1 }
      self.handlers.withLock { $0 = handlers }
    }
    func stop() { handlers.withLock { $0 = nil } }
    func makeDecoder(
      _ kind: CapturePipeline.Kind, onMedia: @escaping @Sendable (CapturedMedia) -> Void,
      onFailure: @escaping @Sendable (LiveKitError) -> Void
    ) async throws(LiveKitError) -> MediaDecoder {
      try await mayDecode.value()
      let fails = failures.withLock { failures in
        defer { failures -= 1 }
        return failures > 0
      }
      if fails { throw LiveKitError(.missingElement, "there is no decoder") }
      let made = try MediaDecoder(
        kind, factory: PipelineFactory(folder: nil), onMedia: onMedia, onFailure: onFailure)
      decoder.withLock { $0 = Weak(made) }
      return made
    }
    func give(width: Int) throws {
      let frame = try #require(
        VideoFrame(i420: [UInt8](repeating: 128, count: width * 2 * 3 / 2), width: width, height: 2))
      handlers.withLock { $0 }?.media(CapturedMedia(media: frame.buffer.media, time: frame.time))
    }
    func give(_ unit: Unit, at time: MediaTime, run: Int = 0) {
      let captured = CapturedMedia(media: unit.media(at: time), time: time, isEncoded: true, run: run)
      handlers.withLock { $0 }?.media(captured)
    }
    func end() { handlers.withLock { $0 }?.end(nil) }
    func fail() { handlers.withLock { $0 }?.end(LiveKitError(.pipeline, "unplugged")) }
  }

  private func width(of captured: CapturedMedia) -> Int32? { VideoFrame(captured)?.dimensions.width }

  @Test func whatFailedOnceMayComeAnotherTime() async throws {
    let script = Script()
    let media = LocalMedia(script)
    try await media.capture { .media }
    script.fail()
    await #expect(throws: LiveKitError.self) { try await media.first.value() }
    try await media.capture { .nothing }
    try await media.capture { .media }
    try script.give(width: 16)
    #expect(width(of: try await media.first.value()) == 16)
  }

  /// A camera that was pulled out, and is there again.
  @Test func whatHasFailedIsBegunAnewWhenItIsAskedForAgain() async throws {
    let script = Script()
    let media = LocalMedia(script)
    for _ in 0..<3 { try await media.capture { .media } }
    try script.give(width: 16)
    script.fail()
    try await media.capture { .media }
    #expect(script.starts == 2)
    try script.give(width: 32)
    #expect(width(of: try await media.first.value()) == 32)
    // One that goes on by itself is left alone.
    script.fail()
    try script.give(width: 64)
    try await media.capture { .media }
    #expect(script.starts == 2)
  }

  @Test func anotherSizeIsTold() async throws {
    let script = Script()
    let media = LocalMedia(script)
    let sizes = Collector<Dimensions>()
    media.onSize { sizes.add($0) }
    try await media.capture { .media }
    for width in [16, 16, 32, 16] { try script.give(width: width) }
    #expect(sizes.values.map(\.width) == [16, 32, 16] && sizes.values.allSatisfy { $0.height == 2 })
  }

  @Test func theFirstFrameIsThatOfEachTime() async throws {
    let script = Script()
    let media = LocalMedia(script)
    for size in [16, 32] {
      try await media.capture { .media }
      try script.give(width: size)
      try script.give(width: 64)
      #expect(width(of: try await media.first.value()) == Int32(size))
      try await media.capture { .nothing }
    }
  }

  @Test func whatComesTooLateForOneComesForTheNext() async throws {
    let (script, late) = (Script(), LiveKitError(.noMedia, "too late"))
    let media = LocalMedia(script)
    try await media.capture { .media }
    await #expect(throws: late) { try await media.first.value(within: .zero, else: late) }
    try script.give(width: 16)
    #expect(width(of: try await media.first.value()) == 16)
  }

  // MARK: Muting

  private final class Owner {}

  @Test func whatIsNoDeviceGoesOnWhileItIsMuted() async throws {
    let (script, viewer) = (Script(goesOnMuted: true), Owner())
    let media = LocalMedia(script)
    let (widths, ends) = (Collector<Int32>(), Collector<Bool>())
    media.onEnd { _ in ends.add(true) }
    media.add(viewer) { captured in
      if let frame = VideoFrame(captured) { widths.add(frame.dimensions.width) }
    }
    for (demand, size) in [(LocalMedia.Demand.media, 16), (.muted, 32), (.media, 64)] {
      try await media.capture { demand }
      #expect(script.isCapturing)
      try script.give(width: size)
    }
    #expect(widths.values == [16, 64])
    // Whoever looks whether its source is away sees that it is not.
    #expect(media.count == 3)
    try await media.capture { .muted }
    script.end()
    #expect(ends.count == 1)
    try await media.capture { .nothing }
    #expect(!script.isCapturing)
  }

  @Test func aDeviceIsLetGoOfWhileItIsMuted() async throws {
    let script = Script()
    let media = LocalMedia(script)
    for demand in [LocalMedia.Demand.media, .muted, .media] {
      try await media.capture { demand }
      #expect(script.isCapturing == (demand == .media))
    }
  }

  @Test(arguments: [false, true]) func whatTellsTheSizeWhileItIsMutedGoesNowhere(goesOnMuted: Bool) async throws {
    let (script, viewer) = (Script(goesOnMuted: goesOnMuted), Owner())
    let media = LocalMedia(script)
    let widths = Collector<Int32>()
    media.add(viewer) { captured in
      if let frame = VideoFrame(captured) { widths.add(frame.dimensions.width) }
    }
    try await media.capture { .first }
    for size in [16, 32] { try script.give(width: size) }
    #expect(width(of: try await media.first.value()) == 16)
    try await media.capture { .muted }
    #expect(script.isCapturing == goesOnMuted)
    try await media.capture { .media }
    try script.give(width: 64)
    #expect(widths.values == [64])
    try await media.capture { .nothing }
  }

  @Test func whatTellsTheSizeAsItIsCarriedGoesNowhere() async throws {
    let (script, sender, viewer) = (Script(), Owner(), Owner())
    let media = LocalMedia(script)
    let taken = Collector<Bool>()
    media.add(sender, .asItComes) { _ in taken.add(true) }
    media.add(viewer) { _ in taken.add(true) }
    try await media.capture { .first }
    script.give(try #require(try await Video.units(.vp8).first), at: MediaTime(nanoseconds: 40_000_000))
    #expect(try await media.first.value().isEncoded)
    try await media.capture { .muted }
    #expect(taken.count == 0 && script.decoder.withLock { $0 == nil })
    try await media.capture { .nothing }
  }

  @Test func muteAndUnmuteAtOnceLeaveItAsItSays() async throws {
    let script = Script()
    let track = LocalVideoTrack(name: "camera", source: .camera, capture: script)
    try await track.start()
    for _ in 0..<200 {
      async let muted: Void = track.mute()
      async let unmuted: Void = track.unmute()
      _ = try await (muted, unmuted)
      #expect(script.isCapturing != track.isMuted)
    }
    try await track.stop()
  }

  // MARK: What comes encoded

  /// Gives the same 30 frames again and again, of which the first is a keyframe, until it is enough.
  private func give(_ script: Script, until isEnough: () -> Bool) async throws {
    let units = try await Video.units(.vp8)
    for index in 0..<10_000 where !isEnough() {
      script.give(units[index % units.count], at: MediaTime(nanoseconds: Int64(index + 1) * 40_000_000))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(isEnough())
  }

  @Test func encodedMediaIsDecodedForThoseWhoTakeRawMediaOnly() async throws {
    let (script, sender, viewer) = (Script(), Owner(), Owner())
    let media = LocalMedia(script)
    let (sent, shown) = (Collector<CapturedMedia>(), Collector<CapturedMedia>())
    media.add(sender, .asItComes) { sent.add($0) }
    try await media.capture { .media }
    try await give(script) { sent.count >= 10 }
    #expect(sent.values.allSatisfy { $0.isEncoded })
    media.add(viewer) { shown.add($0) }
    try await give(script) { shown.count >= 10 }
    #expect(shown.values.allSatisfy { width(of: $0) == 320 })
    #expect(sent.values.allSatisfy { $0.isEncoded })
    media.remove(viewer)
    try await media.capture { .nothing }
  }

  @Test func whoCannotSendItAsItIsGetsFramesFromAKeyframeOn() async throws {
    let (script, sender) = (Script(), Owner())
    let media = LocalMedia(script)
    let (sent, ends) = (Collector<CapturedMedia>(), Collector<Bool>())
    media.onEnd { _ in ends.add(true) }
    media.add(sender, .asItComes) { sent.add($0) }
    try await media.capture { .media }
    try await give(script) { sent.count >= 10 }
    media.decode(for: sender)
    try await give(script) { sent.values.last?.isEncoded == false }
    let all = sent.values
    let first = try #require(all.firstIndex { !$0.isEncoded })
    #expect(all[first...].allSatisfy { !$0.isEncoded })
    // The keyframe at which the decoder begins is the first that is not handed on.
    #expect(all[..<first].filter { !$0.media.isDelta }.count >= 1)
    script.end()
    try await eventually("the end, behind what was decoded") { ends.count == 1 }
    try await media.capture { .nothing }
  }

  @Test func aDecoderThatCannotBeMadeIsTriedAgain() async throws {
    let (script, viewer) = (Script(failures: 1), Owner())
    let media = LocalMedia(script)
    let (shown, ends) = (Collector<CapturedMedia>(), Collector<Bool>())
    media.onEnd { _ in ends.add(true) }
    media.add(viewer) { shown.add($0) }
    try await media.capture { .media }
    try await give(script) { shown.count >= 10 }
    // What is captured has not ended, and to capture it anew would not help.
    #expect(ends.count == 0)
    try await media.capture { .nothing }
  }

  @Test func whoseMediaCannotBeDecodedIsTold() async throws {
    let (script, sender, passing) = (Script(failures: .max), Owner(), Owner())
    let media = LocalMedia(script)
    let (failures, others) = (Collector<LiveKitError.Code>(), Collector<Bool>())
    media.onEnd { _ in others.add(true) }
    media.add(sender, onFailure: { failures.add($0.code) }, { _ in })
    media.add(passing, .asItComes, onFailure: { _ in others.add(true) }, { _ in })
    try await media.capture { .media }
    try await give(script) { failures.count > 0 }
    #expect(failures.values == [.missingElement] && others.count == 0)
    try await media.capture { .nothing }
  }

  /// Nobody but the program's log can tell of what is only seen here.
  @Test func aPreviewThatCannotBeDecodedIsLogged() async throws {
    let (script, viewer, lines) = (Script(failures: .max), Owner(), Collector<String>())
    let media = LocalMedia(script)
    media.log(to: Logger(keeping: lines))
    media.add(viewer) { _ in }
    try await media.capture { .media }
    try await give(script) { lines.count > 0 }
    let line = try #require(lines.values.first)
    #expect(line.contains("a local track is not decoded") && line.contains("there is no decoder"))
    #expect(lines.count == 1)
    try await media.capture { .nothing }
  }

  /// What it measures is sent all the same: who sends it is told, and nothing has failed at its end.
  @Test func aMeterThatHasNoDecoderFailsNothing() async throws {
    let (script, meter, lines) = (Script(failures: .max), Owner(), Collector<String>())
    let media = LocalMedia(script)
    media.log(to: Logger(keeping: lines))
    let (failures, ends) = (Collector<LiveKitError.Code>(), Collector<LiveKitError.Code?>())
    media.onEnd { ends.add($0?.code) }
    media.add(meter, isMeter: true, onFailure: { failures.add($0.code) }, { _ in })
    try await media.capture { .media }
    script.give(try #require(try await Video.units(.vp8).first), at: MediaTime(nanoseconds: 40_000_000))
    script.end()
    try await eventually("the end") { ends.values == [nil] }
    try await give(script) { failures.count > 0 }
    #expect(failures.values == [.missingElement] && lines.count == 0)
    try await media.capture { .nothing }
  }

  /// A short file may be at its end before another decoder is tried.
  @Test func anEndWithoutADecoderIsAnError() async throws {
    let (script, sender) = (Script(failures: .max), Owner())
    let media = LocalMedia(script)
    let ends = Collector<LiveKitError.Code?>()
    media.onEnd { ends.add($0?.code) }
    media.add(sender, onFailure: { _ in }, { _ in })
    try await media.capture { .media }
    script.give(try #require(try await Video.units(.vp8).first), at: MediaTime(nanoseconds: 40_000_000))
    script.end()
    try await eventually("the end") { ends.values == [.missingElement] }
    try await media.capture { .nothing }
  }

  /// Between the keyframe that has it made and the next one may be many seconds.
  @Test func aDecoderBeginsWithTheKeyframeBeforeIt() async throws {
    let (script, viewer) = (Script(decodesAtOnce: false), Owner())
    let media = LocalMedia(script)
    let shown = Collector<CapturedMedia>()
    media.add(viewer) { shown.add($0) }
    try await media.capture { .media }
    let units = try await Video.units(.vp8)
    #expect(!units.dropFirst().contains { !$0.isDelta })
    for index in 0..<15 { script.give(units[index], at: MediaTime(nanoseconds: Int64(index + 1) * 1_000_000)) }
    script.mayDecode.settle(.success(()))
    for index in 15..<1500 where shown.count < 15 {
      script.give(units[15 + index % 15], at: MediaTime(nanoseconds: Int64(index + 1) * 1_000_000))
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(shown.values.first?.time == MediaTime(nanoseconds: 1_000_000) && shown.count >= 15)
    try await media.capture { .nothing }
  }

  /// A server that begins where its stream is sends first what needs frames that nobody has.
  @Test func whatBeginsAnewIsDecodedFromItsNextKeyframeOn() async throws {
    let (script, viewer) = (Script(), Owner())
    let media = LocalMedia(script)
    let shown = Collector<CapturedMedia>()
    media.add(viewer) { shown.add($0) }
    try await media.capture { .media }
    try await give(script) { shown.count >= 10 }
    let units = try await Video.units(.vp8)
    func time(_ index: Int) -> MediaTime { MediaTime(nanoseconds: Int64(index) * 40_000_000 + 600_000_000_000) }
    func newOnes() -> [MediaTime] { shown.values.map(\.time).filter { $0 >= time(0) } }
    for index in 1..<10_000 where newOnes().isEmpty {
      script.give(units[index % units.count], at: time(index), run: 1)
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(newOnes().first.map { $0 >= time(units.count) } == true)
    media.remove(viewer)
    try await media.capture { .nothing }
  }

  @Test func aDecoderThatNobodyWantsAnyMoreIsNotKept() async throws {
    let (script, viewer) = (Script(decodesAtOnce: false), Owner())
    let media = LocalMedia(script)
    let unit = try #require(try await Video.units(.vp8).first)
    media.add(viewer) { _ in }
    try await media.capture { .media }
    script.give(unit, at: MediaTime(nanoseconds: 40_000_000))
    media.remove(viewer)
    script.mayDecode.settle(.success(()))
    try await eventually("its end") { script.decoder.withLock { $0.map { $0.object == nil } ?? false } }
    try await media.capture { .nothing }
  }
}
