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
    _ kind: String, delay: Int = 100_000_000,
    captions: @escaping @Sendable (MediaTime) -> String = { _ in "" },
    _ body: (MixPipeline, FilledTemplate) async throws -> Void
  ) async throws {
    let values = [
      "width": "320", "height": "180", "framerate": "30/1", "delay": "\(delay)", "audio-delay": "100000000",
    ]
    let pipeline = try MixPipeline(
      try factory.fill(.mix, kind, values: values), factory: factory, captions: captions,
      onBuffer: { [mixed] in mixed.add($0) }, onFailure: { [failures] in failures.add($0.message) })
    // Also where something else did not come for it.
    defer { #expect(failures.values.isEmpty, "\(failures.values)") }
    try pipeline.start()
    try await body(pipeline, try factory.fill(.tile, kind, values: [:]))
    await pipeline.stop()
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

  /// Y, U and V in the middle of the newest mixed frame.
  private func middle() -> [UInt8] {
    guard let frame = mixed.values.last.flatMap(VideoFrameBuffer.init) else { return [] }
    return frame.withPlanes { planes in
      (0..<3).compactMap { index in
        planes[index].map { $0.bytes[$0.height / 2 * $0.stride + $0.width / 2] }
      }
    } ?? []
  }

  /// GStreamer takes frames of more than 576 lines for BT.709, where their caps leave that open.
  @Test(arguments: [(1280, 720), (640, 360)]) func aPlainFrameHasItsColour(_ width: Int, _ height: Int) async throws {
    let green = FrameColor(rgb: 0x00ff00)
    let plain = try #require(MediaBuffer.plainFrame(green, width: width, height: height))
    let frame = try #require(VideoFrameBuffer(plain))
    let wanted = [green.luma, green.blue, green.red]
    try await run("video") { pipeline, template in
      let tile = try pipeline.addTile(template)
      tile.put(at: Self.whole)
      tile.start()
      tile.frames.show(frame, at: .now)
      try await eventually("another colour than black") { middle().first.map { $0 > 60 } == true }
      #expect(zip(middle(), wanted).allSatisfy { abs(Int($0) - Int($1)) <= 2 }, "\(middle()) and not \(wanted)")
      tile.remove()
    }
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

  /// How many lines are written over the newest mixed frame.
  private func linesWritten() -> Int {
    guard let frame = mixed.values.last.flatMap(VideoFrameBuffer.init) else { return 0 }
    let isWritten = frame.withPlanes { planes in
      (0..<180).map { y in (0..<320).contains { x in planes[0].map { $0.bytes[y * $0.stride + x] > 180 } ?? false } }
    }
    guard let isWritten else { return 0 }
    return zip(isWritten, isWritten.dropFirst()).count { !$0 && $1 }
  }

  @Test func whatIsSaidStandsBelowTheLabel() async throws {
    let said = Locked("")
    let captions: @Sendable (MediaTime) -> String = { _ in said.withLock { $0 } }
    try await run("video", captions: captions) { pipeline, _ in
      func say(_ text: String) { said.withLock { $0 = text } }
      try pipeline.show(label: "label")
      try await eventually("the label") { linesWritten() == 1 }
      say("said")
      try await eventually("both") { linesWritten() == 2 }
      say("<one>\ntwo &")
      try await eventually("two lines below it") { linesWritten() == 3 }
      try pipeline.show(label: nil)
      try await eventually("what is said alone") { linesWritten() == 2 }
      say("")
      try await eventually("nothing") { mixed.count > 0 && linesWritten() == 0 }
    }
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
      tile.frames.setMuted(true)
      try await eventually("black") { quarters().dropFirst().first.map { $0 < 20 } == true }
      tile.write("<alice>", isMuted: true)
      try await eventually("the mark where no frame comes") { redness() > 50 }
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

  /// Beside the curves that is seen which the rounding was shown, in the place where it is, and black before.
  @Test func cornersAreRounded() async throws {
    try await run("video") { pipeline, template in
      let rounding = CornerRounding(radius: 40)
      let under = try pipeline.addTile(template)
      under.watchFrames { rounding.show(backdrop: $0) }
      under.put(at: TilePlace(x: 0, y: 0, width: 320, height: 180, fit: .cover), level: 1)
      // The second keeps its corners.
      let tiles = try (0..<2).map { _ in try pipeline.addTile(template, rounding: rounding) }
      for (index, tile) in tiles.enumerated() {
        tile.put(
          at: TilePlace(x: 20 + index * 140, y: 20, width: 120, height: 120, fit: .cover), level: index + 2,
          isRounded: index == 0)
        tile.start()
        tile.frames.show(try frame(200))
      }
      try await eventually("black corners, and the other tile") {
        across(20) == [16, 16, 16, 200, 16, 16, 16] && [160, 279].allSatisfy { row(80)[$0] == 200 }
      }
      #expect(across(80) == Array(repeating: 200, count: 7), "no corner is there")
      // Of a circle of 40 around (60, 60), (32, 32) is just inside.
      #expect(across(32) == [16, 16, 200, 200, 200, 16, 16] && across(139) == [16, 16, 16, 200, 16, 16, 16])
      #expect([160, 279].allSatisfy { row(20)[$0] == 200 }, "the other one")
      // From dark to light: what is seen is what is there.
      under.start()
      under.frames.show(try ramp())
      try await eventually("what is under them") { row(170)[300] > 100 }
      for tile in tiles { tile.frames.show(try frame(200)) }
      try await eventually("what is under the corners") { row(20)[20] > 16 }
      for x in [20, 24, 133, 139] { #expect(abs(Int(row(20)[x]) - Int(row(10)[x])) < 3, "\(x)") }
      #expect(row(20)[139] > row(20)[20] + 50)
      for tile in tiles + [under] { tile.remove() }
    }
  }

  /// Luma of a row from the left to the right of a tile of 120 at 20.
  private func across(_ y: Int) -> [Int] {
    let row = row(y)
    return row.isEmpty ? [] : [20, 23, 32, 80, 127, 136, 139].map { Int(row[$0]) }
  }

  /// Lighter from the left to the right.
  private func ramp() throws -> VideoFrameBuffer {
    var bytes = try #require(MediaBuffer.blackFrame(width: 320, height: 180)).withUnsafeBytes { Array($0) }
    for index in 0..<320 * 180 { bytes[index] = UInt8(40 + index % 320 / 2) }
    let caps = try #require(Caps("video/x-raw,format=I420,width=320,height=180,framerate=0/1"))
    return try #require(VideoFrameBuffer(bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: .now) }))
  }

  @Test func whatCannotBeRoundedIsTold() async throws {
    try await run("video") { pipeline, _ in
      let text =
        "# A tile.\nappsrc name=video caps=\"video/x-raw\" ! videoconvert ! capsfilter caps=\"video/x-raw,format=NV12\"\n"
      let template = try Template(kind: .tile, name: "video", file: "video", text: text).fill([:])
      let told = Collector<String>()
      let tile = try pipeline.addTile(template, rounding: CornerRounding(radius: 8)) { told.add($0.message) }
      tile.put(at: TilePlace(x: 0, y: 0, width: 160, height: 90), level: 1, isRounded: true)
      tile.start()
      for _ in 0..<3 { tile.frames.show(try frame(200)) }
      try await eventually("what is wrong") { told.count > 0 }
      #expect(told.count == 1 && told.values[0].contains("NV12"), "\(told.values)")
      tile.remove()
    }
  }

  /// Luma of a row of the newest mixed frame.
  private func row(_ y: Int) -> [UInt8] {
    guard let frame = mixed.values.last.flatMap(VideoFrameBuffer.init) else { return [] }
    return frame.withPlanes { planes in
      planes[0].map { plane in (0..<plane.width).map { plane.bytes[y * plane.stride + $0] } }
    }.flatMap { $0 } ?? []
  }

  private static let (left, right, top, bottom, whole) = (
    TilePlace(x: 0, y: 0, width: 160, height: 180, fit: .cover),
    TilePlace(x: 160, y: 0, width: 160, height: 180, fit: .cover),
    TilePlace(x: 0, y: 0, width: 320, height: 90, fit: .cover),
    TilePlace(x: 0, y: 90, width: 320, height: 90, fit: .cover),
    TilePlace(x: 0, y: 0, width: 320, height: 180, fit: .cover)
  )

  /// Whether all of a mixed frame has the luma of these quarters, in reading order, to the edges.
  private func isCovered(_ media: MediaBuffer?, by luma: [Int]) -> Bool {
    guard let frame = media.flatMap(VideoFrameBuffer.init) else { return false }
    return frame.withPlanes { planes in
      [4, 45, 86, 94, 135, 176].allSatisfy { y in
        [4, 80, 156, 164, 240, 316].allSatisfy { x in
          let wanted = luma[(y < 90 ? 0 : 2) + (x < 160 ? 0 : 1)]
          return planes[0].map { abs(Int($0.bytes[y * $0.stride + x]) - wanted) < 8 } ?? false
        }
      }
    } ?? false
  }

  /// One who stays, one who goes and one who comes: there is no mixed frame between those of before and those of after it.
  @Test func aChangeIsSeenInOneFrame() async throws {
    // What is mixed so late has all come.
    try await run("video", delay: 2_000_000_000) { pipeline, template in
      try await eventually("the first frame") { mixed.count > 0 }
      let (stays, goes, comes) = (
        try pipeline.addTile(template), try pipeline.addTile(template), try pipeline.addTile(template)
      )
      for (tile, place) in [(stays, Self.left), (goes, Self.right)] {
        tile.put(at: place, level: 2)
        tile.start()
      }
      stays.frames.show(try frame(100), at: .now)
      goes.frames.show(try frame(200), at: .now)
      let (before, after) = ([100, 200, 100, 200], [100, 100, 150, 150])
      try await eventually("two halves") { isCovered(mixed.values.last, by: before) }
      let seen = mixed.count
      comes.hide()
      comes.start()
      let time = pipeline.frame(at: .now)
      comes.frames.show(try frame(150), at: time - .milliseconds(100))
      let isGone = Locked(false)
      let changes = [
        stays.put(at: Self.top, level: 2, isRounded: false, standIn: nil, from: time),
        comes.put(at: Self.bottom, level: 3, isRounded: false, standIn: nil, from: time),
        goes.leave { isGone.withLock { $0 = true } },
      ]
      pipeline.change(changes, at: time)
      stays.frames.show(try frame(100), at: time + .milliseconds(50))
      comes.frames.show(try frame(150), at: time + .milliseconds(50))
      try await eventually("two halves of another shape") { isCovered(mixed.values.last, by: after) }
      let hasLeft = isGone.withLock { $0 }
      #expect(hasLeft)
      let looks = mixed.values.dropFirst(seen).map { frame in
        (time: frame.pts ?? .now, isOld: isCovered(frame, by: before), isNew: isCovered(frame, by: after))
      }
      let wrong = looks.filter { $0.time < time - .milliseconds(1) ? !$0.isOld : !$0.isNew }
      #expect(wrong.isEmpty, "\(time): \(wrong)")
      for tile in [stays, goes, comes] { tile.remove() }
    }
  }

  /// A screen on which nothing moves: it is cut to its new shape all the same.
  @Test func whatStandsStillHasTheShapeOfItsNewPlace() async throws {
    try await run("video") { pipeline, template in
      let tile = try pipeline.addTile(template)
      tile.put(at: Self.left, level: 1)
      tile.start()
      tile.frames.show(try frame(100), at: .now)
      try await eventually("the left half") { isCovered(mixed.values.last, by: [100, 16, 100, 16]) }
      let time = pipeline.frame(at: .now)
      pipeline.change([tile.put(at: Self.whole, level: 1, isRounded: false, standIn: nil, from: time)], at: time)
      try await eventually("all of the frame") { isCovered(mixed.values.last, by: [100, 100, 100, 100]) }
      // What stands in for who is muted before the change has its shape, too.
      let next = pipeline.frame(at: .now)
      let change = tile.put(at: Self.right, level: 1, isRounded: false, standIn: .frame(try frame(200)), from: next)
      tile.frames.setMuted(true)
      pipeline.change([change], at: next)
      try await eventually("what stands in") { isCovered(mixed.values.last, by: [16, 200, 16, 200]) }
      tile.remove()
    }
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

  /// Shapes of which no pixel is left when they are brought into a tile, and ten sizes a second.
  @Test(arguments: [[(1, 1)], [(2, 2000)], [(4096, 16)], [(64, 90), (91, 31), (2, 2), (320, 180), (16, 400)]])
  func aFrameOfAnyShapeLeavesTheOthersAlone(_ sizes: [(Int, Int)]) async throws {
    for fit in [TilePlace.Fit.cover, .contain] {
      try await run("video") { pipeline, template in
        let failed = Collector<String>()
        let odd = try pipeline.addTile(template) { failed.add($0.message) }
        let other = try pipeline.addTile(template)
        for (index, tile) in [odd, other].enumerated() {
          tile.put(at: TilePlace(x: index * 160, y: index * 90, width: 160, height: 90, fit: fit), level: index + 1)
          tile.start()
        }
        for number in 0..<20 {
          let (width, height) = sizes[number % sizes.count]
          odd.frames.show(try frame(150, width: width, height: height))
          other.frames.show(try frame(200))
          try await Task.sleep(for: .milliseconds(20))
        }
        try await eventually("the other one") { quarters().count == 4 && abs(Int(quarters()[3]) - 200) < 6 }
        let before = mixed.count
        odd.frames.show(try frame(100))
        try await eventually("the odd one in another shape, or its failure") {
          mixed.count > before + 5 && (!failed.values.isEmpty || abs(Int(quarters()[0]) - 100) < 6)
        }
        odd.remove()
        other.remove()
      }
    }
  }

  /// A text of somebody's own, that fails after some buffers: the other tile is seen on, as is what comes in its place.
  /// It says latencies as the shipped one does: without them the mixer waits for a frame of every tile.
  @Test func aTileThatFailsFailsAlone() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/tile/video.pipeline"
    try FileManager.default.createDirectory(atPath: folder.path + "/tile", withIntermediateDirectories: true)
    try """
    appsrc name=video max-buffers=30 leaky-type=downstream min-latency=0 max-latency=1000000000
    ! identity name=spoiler error-after=3
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let spoilt = try PipelineFactory(folder: folder.path, overrides: [:]).fill(.tile, "video", values: [:])
    let failed = Collector<String>()
    try await run("video") { pipeline, template in
      let tiles = [
        try pipeline.addTile(spoilt) { failed.add($0.message) },
        try pipeline.addTile(template) { failed.add($0.message) },
      ]
      for (index, tile) in tiles.enumerated() {
        tile.put(at: TilePlace(x: index * 160, y: index * 90, width: 160, height: 90), level: index + 1)
        tile.start()
      }
      for number in 0..<5 { tiles[0].frames.show(try frame(100), at: .now + .milliseconds(number)) }
      let first = try await eventually("a failure") { failed.values.first }
      #expect(first.contains("video.pipeline:2: spoiler"), "\(first)")
      tiles[0].remove()
      tiles[1].frames.show(try frame(200))
      try await eventually("the other one alone") { isNear([16, 16, 16, 200]) }
      let next = try pipeline.addTile(template)
      next.put(at: TilePlace(x: 0, y: 0, width: 160, height: 90), level: 3)
      next.start()
      next.frames.show(try frame(150))
      try await eventually("one in its place") { isNear([150, 16, 16, 200]) }
      for tile in [tiles[1], next] { tile.remove() }
    }
  }

  /// Each frame takes longer than there is time for.
  @Test func aMixerThatIsTooSlowLeavesOutFramesAndComesNotLater() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/mix", withIntermediateDirectories: true)
    try """
    compositor name=videomix background=black start-time-selection=first latency=100000000
    ! video/x-raw,format=I420,width=320,height=180,framerate=30/1 ! identity sleep-time=70000
    ! appsink name=frames sync=false async=false
    videotestsrc is-live=true do-timestamp=true pattern=black
    ! video/x-raw,format=I420,width=16,height=16,framerate=30/1 ! queue ! videomix.
    """.write(toFile: folder.path + "/mix/video.pipeline", atomically: true, encoding: .utf8)
    let slow = PipelineFactory(folder: folder.path, overrides: [:])
    let ages = Collector<Duration>()
    let pipeline = try MixPipeline(
      try slow.fill(.mix, "video", values: [:]), factory: slow,
      onBuffer: { [mixed] media in
        mixed.add(media)
        if let time = media.pts { ages.add(.now - time) }
      }, onFailure: { [failures] in failures.add($0.message) })
    #expect(pipeline.delay == .milliseconds(100))
    try pipeline.start()
    try await eventually("frames that are left out") { pipeline.leftOut > 30 }
    let before = (count: ages.count, leftOut: pipeline.leftOut)
    try await eventually("more of them") { ages.count > before.count + 30 }
    // More than half of them do not fit in.
    #expect(pipeline.leftOut - before.leftOut > 25)
    let latest = ages.values.suffix(30).max() ?? .zero
    #expect(latest < .milliseconds(2000), "\(latest)")
    let times = mixed.values.compactMap(\.pts)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    await pipeline.stop()
    #expect(failures.values.isEmpty)
  }

  @Test func audioThatComesTooLateIsCounted() async throws {
    try await run("audio") { pipeline, template in
      let voice = try pipeline.addAudio(template)
      voice.hear(try level(3000), at: .now)
      #expect(voice.losses.late == 0 && voice.losses.dropped == 0)
      voice.hear(try level(3000), at: .now + .milliseconds(-130))
      #expect(voice.losses.late == 1 && voice.losses.dropped == 0, "it is 110 ms late, and the mixer waits for 100 ms")
      for block in 0..<400 { voice.hear(try level(3000), at: .now + .milliseconds(block * 20)) }
      try await eventually("those that wait too long") { voice.losses.dropped > 0 }
      voice.remove()
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
