import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

/// The shipped templates that mix, with inputs that come and go.
@Suite struct MixPipelineTests {
  private let factory = PipelineFactory(folder: nil, overrides: [:])
  private let mixed = Collector<MediaBuffer>()
  private let failures = Collector<String>()

  private func run(
    _ kind: String, _ body: (MixPipeline, FilledTemplate) async throws -> Void
  ) async throws {
    let values = [
      "width": "320", "height": "180", "framerate": "30/1", "delay": "100000000", "audio-delay": "100000000",
    ]
    let pipeline = try MixPipeline(
      try factory.fill(.mix, kind, values: values), factory: factory, onBuffer: { [mixed] in mixed.add($0) },
      onFailure: { [failures] in failures.add($0.message) })
    try pipeline.start()
    try await body(pipeline, try factory.fill(.tile, kind, values: [:]))
    await pipeline.stop()
    #expect(failures.values.isEmpty)
  }

  private func frame(_ luma: UInt8, width: Int = 160, height: Int = 90) throws -> VideoFrameBuffer {
    let caps = try #require(Caps("video/x-raw,format=I420,width=\(width),height=\(height),framerate=0/1"))
    let black = try #require(MediaBuffer.blackFrame(width: width, height: height))
    var bytes = black.withUnsafeBytes { Array($0) }
    let rows = (height + 1) / 2 * 2
    for index in 0..<(width + 3) / 4 * 4 * rows { bytes[index] = luma }
    let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }
    return try #require(VideoFrameBuffer(media))
  }

  /// Luma in the middle of each quarter of the newest mixed frame, in reading order.
  private func quarters() -> [UInt8] {
    guard let frame = mixed.values.last.flatMap(VideoFrameBuffer.init) else { return [] }
    return frame.withPlanes { planes in
      [45, 135].flatMap { y in
        [80, 240].map { x in planes[0].map { $0.bytes[y * $0.stride + x] } ?? 0 }
      }
    } ?? []
  }

  private func isNear(_ luma: [UInt8]) -> Bool {
    let seen = quarters()
    return seen.count == luma.count && zip(seen, luma).allSatisfy { abs(Int($0) - Int($1)) < 6 }
  }

  /// How much of the newest mixed frame is red.
  private func redness() -> Int {
    guard let frame = mixed.values.last.flatMap(VideoFrameBuffer.init) else { return 0 }
    return frame.withPlanes { planes in
      (0..<90).reduce(0) { sum, y in
        sum + (0..<160).count { x in planes[2].map { $0.bytes[y * $0.stride + x] > 180 } ?? false }
      }
    } ?? 0
  }

  @Test func aMutedMicrophoneIsMarkedBehindTheName() async throws {
    try await run("video") { pipeline, template in
      let tile = try pipeline.addTile(template)
      tile.put(at: TilePlace(x: 0, y: 0, width: 320, height: 180, fit: .cover))
      tile.write("<alice>")
      tile.start()
      tile.frames.show(try frame(128))
      try await eventually("the frame") { isNear([128, 128, quarters().dropFirst(2).first ?? 0, 128]) }
      #expect(redness() == 0)
      tile.write("<alice>", isMuted: true)
      tile.frames.show(try frame(128))
      try await eventually("the mark") { redness() > 50 }
      tile.write("<alice>")
      tile.frames.show(try frame(128))
      try await eventually("no mark") { redness() == 0 }
      tile.remove()
    }
  }

  @Test func aFrameIsSeenInItsPlaceUntilItsTileGoes() async throws {
    try await run("video") { pipeline, template in
      try await eventually("a dark frame") { isNear([16, 16, 16, 16]) }
      let tiles = try (0..<2).map { _ in try pipeline.addTile(template) }
      for (index, tile) in tiles.enumerated() {
        tile.put(at: TilePlace(x: index * 160, y: index * 90, width: 160, height: 90), level: index + 1)
        tile.start()
        tile.frames.show(try frame(index == 0 ? 100 : 200))
      }
      try await eventually("two tiles, whose frames stay") { isNear([100, 16, 16, 200]) }
      tiles[0].put(at: TilePlace(x: 160, y: 0, width: 160, height: 90), level: 1)
      tiles[0].frames.show(try frame(150))
      try await eventually("another place") { isNear([16, 150, 16, 200]) }
      tiles[1].frames.setMuted(true)
      try await eventually("black while it is muted") { isNear([16, 150, 16, 16]) }
      tiles[0].remove()
      try await eventually("its end") { isNear([16, 16, 16, 16]) }
      tiles[1].remove()
    }
  }

  @Test func theBackgroundIsSeenBesideAFrameOfAnotherShape() async throws {
    try await run("video") { pipeline, template in
      let tiles = try (0..<3).map { _ in try pipeline.addTile(template) }
      let whole = TilePlace(x: 0, y: 0, width: 320, height: 180, fit: .cover)
      // The second is high, in the left half; the third is muted from the beginning.
      let places = [
        whole, TilePlace(x: 0, y: 0, width: 160, height: 180), TilePlace(x: 160, y: 90, width: 160, height: 90),
      ]
      for (level, (tile, place)) in zip(tiles, places).enumerated() {
        tile.put(at: place, level: level + 1)
        tile.start()
      }
      tiles[2].frames.setMuted(true)
      tiles[0].frames.show(try frame(235))
      tiles[1].frames.show(try frame(100, width: 45, height: 90))
      try await eventually("a frame in the middle of its place") { isNear([100, 235, 100, 16]) }
      #expect(row(90)[4] == 235 && row(90)[156] == 235 && abs(Int(row(90)[80]) - 100) < 6, "no bars")
      for tile in tiles { tile.remove() }
    }
  }

  /// Luma of a row of the newest mixed frame.
  private func row(_ y: Int) -> [UInt8] {
    guard let frame = mixed.values.last.flatMap(VideoFrameBuffer.init) else { return [] }
    return frame.withPlanes { planes in
      planes[0].map { plane in (0..<plane.width).map { plane.bytes[y * plane.stride + $0] } }
    }.flatMap { $0 } ?? []
  }

  /// What is mixed goes on, whichever of both comes first.
  @Test func placesAndSizesChangeWhileFramesFlow() async throws {
    try await run("video") { pipeline, template in
      let tile = try pipeline.addTile(template)
      tile.put(at: TilePlace(x: 0, y: 0, width: 64, height: 90), level: 1)
      tile.start()
      let frames = try [64, 96, 160].map { try frame(200, width: $0) }
      let flow = Task.detached {
        for number in 0..<400 {
          tile.frames.show(frames[number % 3], at: .now)
          try? await Task.sleep(for: .microseconds(500))
        }
      }
      for number in 0..<400 {
        let place = TilePlace(
          x: 0, y: 0, width: 64 + number % 7 * 16, height: 90, fit: number % 2 == 0 ? .cover : .contain)
        tile.put(at: place, level: 1)
        try await Task.sleep(for: .microseconds(500))
      }
      await flow.value
      let before = mixed.count
      try await eventually("more frames") { mixed.count > before + 5 }
      tile.remove()
    }
  }

  /// A hundred tiles come and go, of whom some send nothing and some are gone before they are seen.
  @Test func mixingGoesOnWhoeverComesAndGoes() async throws {
    try await run("video") { pipeline, template in
      try await eventually("the first frame") { mixed.count > 0 }
      for number in 0..<100 {
        let tile = try pipeline.addTile(template)
        tile.put(at: TilePlace(x: 0, y: 0, width: 64 + number % 5 * 32, height: 90), level: 1)
        tile.start()
        if !number.isMultiple(of: 3) { tile.frames.show(try frame(200, width: 96 + number % 7 * 16)) }
        if number.isMultiple(of: 4) { try await Task.sleep(for: .milliseconds(40)) }
        tile.remove()
      }
      let before = mixed.count
      try await eventually("more frames") { mixed.count > before + 5 }
      let times = mixed.values.compactMap(\.pts)
      let steps = zip(times, times.dropFirst()).map { $1 - $0 }
      #expect(steps.allSatisfy { $0 > .zero && $0 < .milliseconds(100) }, "\(steps.max() ?? .zero)")
      let ages = times.last.map { MediaTime.now - $0 } ?? .zero
      #expect(ages < .milliseconds(600), "what is mixed is \(ages) old")
    }
  }

  @Test func voicesAddUpAndSilenceStandsInForNobody() async throws {
    try await run("audio") { pipeline, template in
      try await eventually("silence") { mixed.count > 5 }
      #expect(mixed.values.allSatisfy { loudest($0) == 0 })
      let voices = try (0..<2).map { _ in try pipeline.addAudio(template) }
      let begin = MediaTime.now
      for block in 0..<25 {
        for voice in voices { voice.hear(try level(3000), at: begin + .milliseconds(block * 20)) }
      }
      try await eventually("the sum of two") { mixed.values.contains { abs(loudest($0) - 6000) < 60 } }
      for voice in voices { voice.remove() }
      let after = mixed.count
      try await eventually("silence again") { mixed.count > after + 40 && mixed.values.last.map(loudest) == 0 }
      let times = mixed.values.compactMap(\.pts)
      let strays = zip(times, times.dropFirst()).map { $1 - $0 - .milliseconds(20) }.filter { $0 > .microseconds(1) }
      #expect(strays.isEmpty, "not a sample is missing")
    }
  }

  @Test func aVoiceIsHeardInItsChannelAlone() async throws {
    try await run("audio") { pipeline, template in
      let voices = [try pipeline.addAudio(template, channel: .left), try pipeline.addAudio(template, channel: .right)]
      let begin = MediaTime.now
      for block in 0..<25 {
        voices[0].hear(try level(3000), at: begin + .milliseconds(block * 20))
        voices[1].hear(try level(1000), at: begin + .milliseconds(block * 20))
      }
      try await eventually("each where it belongs") {
        mixed.values.contains { media in
          media.withUnsafeBytes { bytes in
            let samples = bytes.bindMemory(to: Int16.self)
            return samples.count > 1 && abs(Int(samples[0]) - 3000) < 60 && abs(Int(samples[1]) - 1000) < 60
          }
        }
      }
      for voice in voices { voice.remove() }
    }
  }

  /// 20 ms of stereo at one level.
  private func level(_ value: Int16) throws -> MediaBuffer {
    let caps = try #require(Caps("audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"))
    return [Int16](repeating: value, count: 960 * 2).withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: .now, duration: .milliseconds(20))
    }
  }

  private func loudest(_ media: MediaBuffer) -> Int {
    media.withUnsafeBytes { $0.bindMemory(to: Int16.self).map { abs(Int($0)) }.max() ?? 0 }
  }
}
