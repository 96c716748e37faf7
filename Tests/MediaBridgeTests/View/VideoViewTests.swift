import BridgeTesting
import Foundation
import MediaCore
import Testing

@testable import MediaBridge
@testable import MediaBridgeDesktop

/// Windows on an X server of the test's own, seen through screenshots.
@Suite(.serialized) struct VideoViewTests {
  static let wide = Dimensions(width: 320, height: 160)
  static let square = CGRect(x: 0, y: 0, width: 300, height: 300)

  /// Renders a frame again and again until the screen is as expected.
  func expect(
    _ what: String, on desktop: Desktop, _ view: VideoView, _ frame: VideoFrame,
    _ check: @Sendable (Screenshot) -> Bool
  ) async throws {
    try await eventually(what) {
      view.render(frame: frame)
      try await Task.sleep(for: .milliseconds(50))
      return check(try desktop.screenshot())
    }
  }

  @Test func showsTheFrameItIsGiven() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: CGRect(x: 0, y: 0, width: 320, height: 160))
    try await expect("the frame", on: desktop, view, try Quarters.frame(Self.wide)) { screen in
      screen.distance(from: { Quarters.colour(x: $0, y: $1, of: Self.wide) }, in: (0..<320, 0..<160)) < 4
    }
    #expect(try desktop.windows().map(\.size) == [Self.wide])
    #expect(view.isVisible && view.failure == nil)
    await view.close()
    // The server takes a moment to see that a connection is closed.
    try await eventually("no connection") { desktop.clients == 0 }
    #expect(try desktop.windows().isEmpty)
    #expect(!view.isVisible)
  }

  @Test func fitLeavesBarsAndFillDoesNot() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    view.layoutMode = .fit
    // 320x160 in 300x300 becomes 300x150, with bars of 75 above and below.
    try await expect("bars", on: desktop, view, try Quarters.frame(Self.wide)) { screen in
      screen[150, 30].isNear(.black) && screen[150, 270].isNear(.black) && screen[30, 90].isNear(.red)
        && screen[270, 210].isNear(.white)
    }
    view.layoutMode = .fill
    try await expect("no bars", on: desktop, view, try Quarters.frame(Self.wide)) { screen in
      screen.distance(
        from: { Quarters.colour(x: $0, y: $1, of: Dimensions(width: 300, height: 300)) }, in: (0..<300, 0..<300)) < 4
    }
    await view.close()
  }

  @Test func followsSizeAndRotationOfTheFrames() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    let square = Dimensions(width: 120, height: 120)
    try await expect("the first", on: desktop, view, try Quarters.frame(Self.wide)) { $0[10, 10].isNear(.red) }
    // A quarter turn clockwise brings the lower left corner to the upper left.
    try await expect("turned clockwise", on: desktop, view, try Quarters.frame(square, rotation: ._90)) { screen in
      screen[10, 10].isNear(.blue) && screen[290, 10].isNear(.red) && screen[290, 290].isNear(.green)
    }
    try await expect("turned the other way", on: desktop, view, try Quarters.frame(square, rotation: ._270)) {
      $0[10, 10].isNear(.green) && $0[290, 290].isNear(.blue)
    }
    try await expect("on its head", on: desktop, view, try Quarters.frame(Self.wide, rotation: ._180)) {
      $0[10, 10].isNear(.white) && $0[290, 290].isNear(.red)
    }
    #expect(try desktop.windows().map(\.size) == [Dimensions(width: 300, height: 300)])
    await view.close()
  }

  @MainActor @Test func adaptiveStreamKnowsTheSizeOfTheWindow() async throws {
    let desktop = try Desktop()
    let view = VideoView()
    #expect(view.isAdaptiveStreamEnabled)
    #expect(TrackDemand(of: view) == .anything)
    view.render(frame: try Quarters.frame(Self.wide))
    let window = try await desktop.window()
    #expect(TrackDemand(of: view) == .size(window.size))
    let small = Dimensions(width: 200, height: 100)
    try desktop.resize(window, to: small)
    try await eventually("the new size") { await TrackDemand(of: view) == .size(small) }
    try await expect("the frame in its new size", on: desktop, view, try Quarters.frame(Self.wide)) { screen in
      screen.distance(from: { Quarters.colour(x: $0, y: $1, of: small) }, in: (0..<200, 0..<100)) < 6
    }
    view.isHidden = true
    #expect(TrackDemand(of: view) == .nothing)
    await view.close()
    #expect(TrackDemand(of: view) == .nothing)
  }

  @Test func hiddenIsNotSeen() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    try await expect("the frame", on: desktop, view, try Quarters.frame(Self.wide)) { $0[10, 10].isNear(.red) }
    view.isHidden = true
    try await eventually("no window") { try desktop.windows().isEmpty }
    view.render(frame: try Quarters.frame(Self.wide))
    #expect(try desktop.screenshot()[10, 10] == .black)
    #expect(!view.isVisible)
    view.isHidden = false
    #expect(view.isVisible)
    try await expect("it is back", on: desktop, view, try Quarters.frame(Self.wide)) { $0[10, 10].isNear(.red) }
    await view.close()
  }

  /// Where its camera is muted there is nothing to be seen, also of what still comes.
  @Test func mutedIsBlack() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    let frame = try Quarters.frame(Self.wide)
    try await expect("the frame", on: desktop, view, frame) { $0[10, 10].isNear(.red) }
    view.setMuted(true)
    try await expect("black", on: desktop, view, frame) { screen in
      [10, 290].allSatisfy { x in [10, 290].allSatisfy { y in screen[x, y].isNear(.black) } }
    }
    #expect(try desktop.windows().count == 1)
    view.setMuted(false)
    try await expect("it is back", on: desktop, view, frame) { $0[10, 10].isNear(.red) }
    await view.close()
  }

  @Test func aMutedCameraOpensNoWindow() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    view.setMuted(true)
    view.render(frame: try Quarters.frame(Self.wide))
    view.setMuted(false)
    #expect(try desktop.windows().isEmpty)
    try await expect("the frame", on: desktop, view, try Quarters.frame(Self.wide)) { $0[10, 10].isNear(.red) }
    await view.close()
  }

  /// From the publisher's word to the screen.
  @Test func aViewFollowsItsTrack() async throws {
    let desktop = try Desktop()
    try await Watcher.run { watcher in
      let view = VideoView(frame: Self.square)
      let camera = try await watcher.camera()
      (camera.track as? RemoteVideoTrack)?.add(videoRenderer: view)
      let isBlack: @Sendable () throws -> Bool = {
        let screen = try desktop.screenshot()
        return !(0..<30).contains { y in (0..<30).contains { x in !screen[x * 10, y * 10].isNear(.black) } }
      }
      try await eventually("frames") { try !desktop.windows().isEmpty && !isBlack() }
      let alice = try #require(watcher.synthetic.publishers["alice"]?.localParticipant.localVideoTracks.first)
      try await alice.mute()
      try await eventually("black") { try isBlack() }
      try await alice.unmute()
      try await eventually("frames again") { try !isBlack() }
      try await camera.set(subscribed: false)
      try await eventually("black without a track") { try isBlack() }
      #expect(try desktop.windows().count == 1)
      await view.close()
    }
  }

  @Test func theUserMayCloseTheWindow() async throws {
    let desktop = try Desktop()
    let closed = Collector<Bool>()
    let view = VideoView(frame: Self.square)
    view.onClose = { closed.add(true) }
    view.render(frame: try Quarters.frame(Self.wide))
    try desktop.close(try await desktop.window())
    try await eventually("being told") { closed.count == 1 }
    #expect(!view.isVisible && view.failure == nil)
    view.render(frame: try Quarters.frame(Self.wide))
    #expect(try desktop.windows().isEmpty)
    try view.open()
    #expect(view.isVisible)
    try await expect("it is back", on: desktop, view, try Quarters.frame(Self.wide)) { $0[10, 10].isNear(.red) }
    await view.close()
    #expect(closed.count == 1)
  }

  @Test func withoutADisplayItSaysWhatToDo() async throws {
    unsetenv("DISPLAY")
    let view = VideoView()
    let error = #expect(throws: LiveKitError.self) { try view.open() }
    #expect(error?.code == .display)
    #expect(error?.message.contains("set DISPLAY") == true)
    let other = VideoView()
    other.render(frame: try Quarters.frame(Self.wide))
    try await eventually("the failure") { other.failure?.code == .display }
    #expect(!other.isVisible)
    setenv("DISPLAY", ":no-such-display", 1)
    defer { unsetenv("DISPLAY") }
    let wrong = #expect(throws: LiveKitError.self) { try view.open() }
    #expect(wrong?.message.contains(":no-such-display") == true)
    await view.close()
    await other.close()
  }

  @Test func hasATitle() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square, pipelineValues: ["title": "Alice, Bob & others"])
    view.render(frame: try Quarters.frame(Self.wide))
    let window = try await desktop.window()
    #expect(window.title.hasPrefix("Alice, Bob & others"))
    await view.close()
  }

  @Test func aViewThatIsNotUsedOpensNothing() async throws {
    let view = VideoView()
    #expect(view.failure == nil && view.isVisible && view.adaptiveStreamSize == .zero)
    await view.close()
  }

  @Test func goesWithItsLastReference() async throws {
    let desktop = try Desktop()
    var view: VideoView? = VideoView(frame: Self.square)
    view?.render(frame: try Quarters.frame(Self.wide))
    _ = try await desktop.window()
    // The kernel's list of sockets may miss one while others come and go.
    try await eventually("a connection") { desktop.clients > 0 }
    view = nil
    try await eventually("no window") { try desktop.windows().isEmpty }
    try await eventually("no connection") { desktop.clients == 0 }
  }

  @Test func debugModeWritesOverTheFrame() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    view.isDebugMode = true
    let frame = try Quarters.frame(Self.wide)
    // The upper left quarter is red; text is not.
    let isWritten: @Sendable (Screenshot) -> Bool = { screen in
      (0..<140).contains { y in (0..<140).contains { x in !screen[x, y].isNear(.red) } }
    }
    try await eventually("text in the corner") {
      view.render(frame: frame)
      return isWritten(try desktop.screenshot())
    }
    view.isDebugMode = false
    try await expect("no text", on: desktop, view, frame) { !isWritten($0) }
    await view.close()
  }

  @Test func aTileThatFailsLeavesTheOthersAlone() async throws {
    let desktop = try Desktop()
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/tile", withIntermediateDirectories: true)
    let source = "appsrc name=video max-buffers=3 leaky-type=downstream min-latency=0 max-latency=1000000000"
    try "\(source) ! identity error-after=3\n".write(
      toFile: folder.path + "/tile/window-tile.pipeline", atomically: true, encoding: .utf8)
    let window = try TileWindow(size: Dimensions(width: 600, height: 300), pipelineFolder: folder.path)
    let (first, second) = (try window.addTile(name: ""), try window.addTile(name: ""))
    let failure = Locked<LiveKitError?>(nil)
    first.onFailure { error in failure.withLock { $0 = error } }
    try await eventually("its failure") {
      first.render(frame: try Quarters.frame(Self.wide))
      return failure.withLock { $0 } != nil
    }
    #expect(!first.isVisible && second.isVisible && window.failure == nil)
    second.render(frame: try Quarters.frame(Self.wide))
    try await eventually("the other one") { try desktop.screenshot()[312, 85].isNear(.red) }
    window.remove(first)
    await window.close()
  }

  @Test func tilesComeAndGo() async throws {
    let desktop = try Desktop()
    let window = try TileWindow(size: Dimensions(width: 600, height: 300), layoutMode: .fill)
    let first = try window.addTile(name: "")
    let second = try window.addTile(name: "")
    let frame = try Quarters.frame(Self.wide)
    let left = TileLayout.places(count: 2, in: window.size)[0].size
    try await eventually("two tiles") {
      for tile in [first, second] { tile.render(frame: frame) }
      let screen = try desktop.screenshot()
      return [0, 302].allSatisfy { x in
        screen[x + 10, 40].isNear(.red) && screen[x + Int(left.width) - 10, 40].isNear(.green)
      }
    }
    await #expect(
      MainActor.run { first.adaptiveStreamSize } == CGSize(width: Int(left.width), height: Int(left.height)))
    window.remove(second)
    try await eventually("one tile") {
      first.render(frame: frame)
      let screen = try desktop.screenshot()
      return screen[10, 10].isNear(.red) && screen[590, 10].isNear(.green) && screen[590, 290].isNear(.white)
    }
    #expect(!second.isVisible)
    first.setMuted(true)
    try await eventually("a black tile") {
      first.render(frame: frame)
      let screen = try desktop.screenshot()
      return screen[10, 10].isNear(.black) && screen[590, 10].isNear(.black) && screen[590, 290].isNear(.black)
    }
    first.setMuted(false)
    try desktop.resize(try await desktop.window(), to: Dimensions(width: 400, height: 400))
    try await eventually("the new size") { first.adaptiveStreamSize == CGSize(width: 400, height: 400) }
    try desktop.close(try await desktop.window())
    await window.untilClosed()
    #expect(window.failure == nil, "\(String(describing: window.failure))")
    #expect(!first.isVisible)
    #expect(throws: LiveKitError.self) { try window.addTile(name: "late") }
    await window.close()
    #expect(try desktop.windows().isEmpty)
  }
}
