import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaPipelines
import PipelineTemplates
import Testing

@testable import Egress

/// What a room is mixed with, before it runs.
@Suite struct RoomMixTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func mix(_ values: [String: String] = [:]) throws -> RoomMix {
    var options = CompositeOptions(file: "a.mkv")
    options.kinds = [.video]
    return try RoomMix(
      options, factory: PipelineFactory(folder: folder.path, overrides: values), captions: { _ in "" },
      onMedia: { _, _ in }, onFailure: { _, _ in })
  }

  private func write(_ name: String, _ text: String) throws {
    let file = URL(fileURLWithPath: "\(folder.path)/\(name).pipeline")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  /// Frames of another size wait until all those before are mixed.
  @Test(
    arguments: [
      ([:], 30), (["delay": "1000000000"], 72), (["delay": "2000000000"], 132), (["delay": "100000000"], 30),
      (["delay": "2000000000", "tile-queue": "7"], 7),
    ] as [([String: String], Int)])
  func whatWaitsInATileHasRoom(_ values: [String: String], _ frames: Int) throws {
    let tile = try #require(try mix(values).video?.tile)
    #expect(tile.description.contains("max-buffers=\(frames) "), "\(tile.description)")
  }

  @Test func theRoomThatATextOfOnesOwnHasGrows() throws {
    func shown(_ values: [String: String] = [:]) throws -> String { try mix(values).video?.tile.description ?? "" }
    let rest = "leaky-type=downstream ! videoconvertscale"
    try write("tile/video", "appsrc name=video max-buffers=${tile-queue:-3} \(rest)")
    #expect(try shown().contains("max-buffers=3 "))
    #expect(try shown(["delay": "1000000000"]).contains("max-buffers=45 "))
    try write("tile/video", "appsrc name=video max-buffers=4 \(rest)")
    #expect(try shown(["delay": "1000000000"]).contains("max-buffers=4 "))
  }

  /// A file that was edited may be broken, or not be taken over yet.
  @Test func labelsAreJudgedByWhatRuns() throws {
    let mix = try mix()
    try write("tile/video", "appsrc name=video ! videoconvertscale")
    try write("mix/video", "compositor name=videomix ! video/x-raw,width=1280,height=720 ! appsink name=frames")
    try mix.checkCaption(isOfTile: true)
    try mix.checkCaption(isOfTile: false)
    let plain = try self.mix()
    for isOfTile in [true, false] {
      let error = #expect(throws: LiveKitError.self) { try plain.checkCaption(isOfTile: isOfTile) }
      #expect(error?.message.contains("called caption") == true)
    }
  }
}
