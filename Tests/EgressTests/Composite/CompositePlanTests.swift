import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaPipelines
import Testing

@testable import Egress

/// What is asked of a composite before it begins.
@Suite struct CompositePlanTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func plan(
    _ values: [String: String] = [:], _ change: (inout CompositeOptions) -> Void = { _ in }
  ) -> CompositePlan {
    var options = CompositeOptions(file: "\(folder.path)/a.mkv", values: values)
    change(&options)
    return CompositePlan(options, by: PipelineFactory(folder: folder.path))
  }

  private func write(_ name: String, _ text: String) throws {
    let file = URL(fileURLWithPath: "\(folder.path)/\(name).pipeline")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  /// Tiles are laid out in the frame that is mixed.
  @Test func aSizeThatIsSetIsThatOfTheLayout() throws {
    let plan = plan(["width": "1920", "height": "1080", "framerate": "25/1", "delay": "200000000", "gop": "50"])
    try plan.check()
    #expect(plan.options.size == Dimensions(width: 1920, height: 1080) && plan.options.framerate == 25)
    #expect(plan.factory.overrides == ["delay": "200000000"])
    #expect(plan.recording.values == ["gop": "50"] && plan.recording.encoding.width == 1920)
    #expect(RoomMix.values(plan.options) == ["width": "1920", "height": "1080", "framerate": "25/1"])
  }

  @Test func oneSideKeepsTheShapeAsTheOptionDoes() throws {
    let plan = plan(["width": "640", "framerate": "15"])
    try plan.check()
    #expect(plan.options.size == Dimensions(width: 640, height: 360) && plan.options.framerate == 15)
  }

  @Test func aSizeThatIsAskedForTwiceIsOne() throws {
    try plan(["width": "640"]) { $0.size = Dimensions(width: 640, height: 480) }.check()
    let twice = plan(["width": "640"]) { $0.size = Dimensions(width: 1280, height: 720) }
    #expect(throws: LiveKitError.self) { try twice.check() }
  }

  @Test(arguments: [["width": "wide"], ["height": "7"], ["framerate": "30000/1001"], ["framerate": "0"]])
  func whatNoFrameCanHaveIsRefused(_ values: [String: String]) {
    let error = #expect(throws: LiveKitError.self) { try plan(values).check() }
    #expect(error?.code == .invalidParameter)
    #expect(throws: LiveKitError.self) {
      try OutputFeeds.of(CompositeOptions(file: "\(folder.path)/a.mkv", values: values), folder: folder.path)
    }
  }

  @Test func whatIsShownBeforehandHasTheSize() throws {
    let options = CompositeOptions(file: "\(folder.path)/a.mkv", values: ["width": "640", "height": "480"])
    let mixer = try OutputFeeds.mixing(options, folder: folder.path).first { $0.name == "mix/video" }
    #expect(mixer?.text.contains("width=640,height=480") == true, "\(mixer?.text ?? "")")
  }

  /// Tiles have queues, too, under another name.
  @Test func aQueueIsThatOfTheOutputs() throws {
    let plan = plan(["queue": "2000", "tile-queue": "20"])
    try plan.check()
    #expect(plan.recording.values == ["queue": "2000"] && plan.factory.overrides == ["tile-queue": "20"])
  }

  @Test func oneSideEachTakesATextThatCanDoIt() throws {
    try write("tile/audio", "appsrc name=audio ! audioconvert ! audioresample")
    try plan().check()
    let error = #expect(throws: LiveKitError.self) { try plan { $0.audioMixing = .dualChannelAgent }.check() }
    #expect(error?.message.contains("called channels") == true)
    try plan { ($0.audioMixing, $0.kinds) = (.dualChannelAgent, [.video]) }.check()
  }

  @Test func aLogoTakesATextThatShowsIt() throws {
    let logo = "\(folder.path)/logo.png"
    let plain = try #require(MediaBuffer.plainFrame(.black, width: 64, height: 36))
    let image = try #require(VideoFrameBuffer(plain)).encoded(as: .png).withUnsafeBytes { Data($0) }
    try image.write(to: URL(fileURLWithPath: logo))
    try plan { $0.scenery.logo = .init(file: logo) }.check()
    try write("mix/video", "compositor name=videomix ! video/x-raw,width=1280,height=720 ! appsink name=frames")
    let error = #expect(throws: LiveKitError.self) { try plan { $0.scenery.logo = .init(file: logo) }.check() }
    #expect(error?.message.contains("called logo") == true)
  }
}
