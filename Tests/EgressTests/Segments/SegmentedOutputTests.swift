import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge
@testable import MediaPipelines

/// A playlist, and those beside it, where there was a recording of that name before.
@Suite struct SegmentedOutputTests {
  private let folder: TemporaryFolder
  private let claim: FileClaim
  private static let old = ["a.m3u8", "a_captions.m3u8"]

  init() throws {
    folder = try TemporaryFolder()
    for name in Self.old { try "old".write(toFile: "\(folder.path)/\(name)", atomically: false, encoding: .utf8) }
    claim = try FileClaim("\(folder.path)/a.m3u8")
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
  }

  private func output() throws -> SegmentedOutput {
    let destination = Destination(location: "\(folder.path)/a.m3u8")
    let values = ["live-playlist": "live.m3u8", "segment-duration": "1"]
    var planner = try OutputPlanner(destination, factory: PipelineFactory(folder: nil, overrides: values))
    planner.wantsCaptions = true
    let plan = try planner.plan([.video: TrackTraits(codec: "h264")])
    let output = try SegmentedOutput(
      plan, at: destination, claim: claim, clock: OutputClock { _ in nil }, hasVideo: false,
      onFailure: { Issue.record("\($0)") })
    return try #require(output)
  }

  @Test func theOldOnesStayWhereTheLiveOneIsRefused() throws {
    let other = try FileClaim("\(folder.path)/live.m3u8")
    #expect { _ = try output() } throws: { "\($0)".contains("another recording writes into") }
    let kept = try Self.old.map { try text($0) }
    #expect(kept == ["old", "old"])
    other.release()
  }

  @Test func thoseBesideItEndWhereItCannot() throws {
    let output = try output()
    let emptied = try Self.old.map { try text($0) }
    #expect(emptied == ["", ""])
    let caps = try #require(Caps("video/mpegts"))
    let packet: [UInt8] = [0x47, 0x40, 0x42, 0x17] + Array(repeating: 0xff, count: 184)
    for number in 0..<5 {
      let time = MediaTime(nanoseconds: 0) + .milliseconds(400) * number
      output.take(packet.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: time) })
    }
    #expect(output.files.map { ($0 as NSString).lastPathComponent } == ["a_00000.ts", "a_00001.ts"])
    try FileManager.default.removeItem(atPath: "\(folder.path)/a.m3u8")
    #expect { try output.finish() } throws: { "\($0)".contains("a.m3u8 was removed") }
    for name in ["live.m3u8", "a_captions.m3u8"] {
      let written = try text(name)
      #expect(written.hasSuffix("#EXT-X-ENDLIST\n"), "\(name): \(written)")
    }
  }
}
