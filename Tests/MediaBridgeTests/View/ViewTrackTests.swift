import BridgeTesting
import Foundation
import MediaCore
import Testing

@testable import MediaBridge
@testable import MediaBridgeDesktop

/// Notes what it is told of a view.
private final class ViewListener: VideoViewDelegate, Sendable {
  let sizes = Collector<CGSize>()
  let states = Collector<Bool>()
  func videoView(_ videoView: VideoView, didUpdate size: CGSize) { sizes.add(size) }
  func videoView(_ videoView: VideoView, didUpdate isRendering: Bool) { states.add(isRendering) }
}

extension VideoViewTests {
  @Test func showsTheTrackThatItIsGiven() async throws {
    let desktop = try Desktop()
    try await Watcher.run { watcher in
      let (camera, track) = (try await watcher.camera(), try await watcher.tracks().0)
      let listener = ViewListener()
      var view: VideoView? = VideoView(frame: Self.square)
      view?.delegates.add(delegate: listener)
      view?.track = track
      #expect(view?.track === track)
      let isBlack: @Sendable () throws -> Bool = {
        try desktop.screenshot().distance(from: { _, _ in .black }, in: (0..<300, 0..<300)) < 2
      }
      try await eventually("frames") { try !desktop.windows().isEmpty && !isBlack() }
      #expect(view?.isRendering == true && view?.didRenderFirstFrame == true)
      try await eventually("being told") { listener.states.values == [true] }
      try desktop.resize(try await desktop.window(), to: Dimensions(width: 200, height: 200))
      try await eventually("the size") { listener.sizes.values == [CGSize(width: 200, height: 200)] }

      let alice = try #require(watcher.synthetic.publishers["alice"]?.localParticipant.localVideoTracks.first)
      try await alice.mute()
      try await eventually("the end of it") { listener.states.values == [true, false] }
      #expect(view?.isRendering == false)
      try await alice.unmute()
      try await eventually("frames again") { listener.states.values == [true, false, true] }

      view?.track = nil
      #expect(view?.track == nil && view?.isRendering == false && view?.didRenderFirstFrame == false)
      try await eventually("black without a track") { try isBlack() }
      try await eventually("the pause") { !camera.isEnabled }
      view?.track = track
      try await eventually("the track again") { [view] in try view?.isRendering == true && !isBlack() }
      // The track does not hold the view.
      view = nil
      try await eventually("no window") { try desktop.windows().isEmpty }
      try await eventually("the second pause") { !camera.isEnabled }
    }
  }

  /// As the view of a subscriber of Vonage's does.
  @Test func aWindowMayCloseWithItsTrack() async throws {
    let desktop = try Desktop()
    try await Watcher.run { watcher in
      let camera = try await watcher.camera()
      let view = VideoView(frame: Self.square)
      view.closesWithTrack = true
      view.track = try await watcher.tracks().0
      _ = try await desktop.window()
      try await camera.set(subscribed: false)
      try await eventually("no window") { try desktop.windows().isEmpty }
      #expect(view.failure == nil)
      try await camera.set(subscribed: true)
      view.track = try await watcher.tracks().0
      _ = try await desktop.window()
      await view.close()
    }
  }

  @Test func aViewThatIsDisabledIsBlack() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    let frame = try Quarters.frame(Self.wide)
    try await expect("the frame", on: desktop, view, frame) { $0[10, 10].isNear(.red) }
    #expect(view.isRendering)
    view.isEnabled = false
    #expect(!view.isVisible && !view.isRendering)
    await #expect(MainActor.run { TrackDemand(of: view) } == .nothing)
    try await expect("black", on: desktop, view, frame) { $0[10, 10].isNear(.black) && $0[290, 290].isNear(.black) }
    #expect(try desktop.windows().count == 1)
    view.isEnabled = true
    try await expect("it is back", on: desktop, view, frame) { $0[10, 10].isNear(.red) }
    await view.close()
    #expect(!view.isRendering)
  }

  /// It is cut by its own format, not by that of the frame before.
  @Test func theOnlyFrameSinceAViewWasLaidOutIsSeen() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    try await expect("the frame", on: desktop, view, try Quarters.frame(Self.wide)) { $0[10, 10].isNear(.red) }
    view.layoutMode = .fit
    // Is done on the queue, behind that.
    try view.open()
    view.render(frame: try Quarters.white(Dimensions(width: 320, height: 320)))
    try await eventually("white") { try desktop.screenshot()[150, 150].isNear(.white) }
    await view.close()
  }

  @Test func mirrorsAndTurnsWhatItIsTold() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: Self.square)
    let frame = try Quarters.frame(Dimensions(width: 120, height: 120))
    #expect(view.mirrorMode == .auto)
    try await expect("as it is", on: desktop, view, frame) { $0[10, 10].isNear(.red) && $0[290, 10].isNear(.green) }
    view.mirrorMode = .mirror
    try await expect("mirrored", on: desktop, view, frame) { screen in
      screen[10, 10].isNear(.green) && screen[290, 10].isNear(.red) && screen[10, 290].isNear(.white)
    }
    // A mirror shows what is upright.
    let turned = try Quarters.frame(Dimensions(width: 120, height: 120), rotation: ._90)
    try await expect("turned and mirrored", on: desktop, view, turned) { screen in
      screen[10, 10].isNear(.red) && screen[290, 10].isNear(.blue)
    }
    view.rotationOverride = ._180
    try await expect("turned otherwise", on: desktop, view, turned) { screen in
      screen[10, 10].isNear(.blue) && screen[290, 10].isNear(.white)
    }
    view.mirrorMode = .off
    try await expect("not mirrored", on: desktop, view, turned) { $0[10, 10].isNear(.white) }
    view.rotationOverride = nil
    try await expect("as it says", on: desktop, view, turned) { $0[10, 10].isNear(.blue) }
    await view.close()
  }

  /// The one who is in front of it sees it as in a mirror, and nothing while it is muted.
  @Test func onesOwnCameraIsMirrored() async throws {
    let desktop = try Desktop()
    let view = VideoView(frame: CGRect(x: 0, y: 0, width: 320, height: 180))
    var options = CameraCaptureOptions(
      template: "pattern", values: ["pattern": "smpte", "width": "320", "height": "180", "framerate": "20/1"])
    let front = LocalVideoTrack.createCameraTrack(options: options)
    view.track = front
    try await front.start()
    // White is the left bar, blue the right one.
    try await eventually("bars, mirrored") {
      let screen = try desktop.screenshot()
      return screen[10, 80].isNear(.blue) && screen[310, 80].isNear(.white)
    }
    try await front.mute()
    try await eventually("black") { try desktop.screenshot()[310, 80].isNear(.black) }
    try await front.unmute()
    try await eventually("bars again") { try desktop.screenshot()[310, 80].isNear(.white) }

    options.position = .back
    let back = LocalVideoTrack.createCameraTrack(options: options)
    view.track = back
    try await back.start()
    try await eventually("bars as they are") {
      let screen = try desktop.screenshot()
      return screen[10, 80].isNear(.white) && screen[310, 80].isNear(.blue)
    }
    await view.close()
    try await front.stop()
    try await back.stop()
  }
}

@Suite struct RenderingWatchTests {
  private func at(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(seconds * 1e9)) }

  @Test func framesThatStopAreFoundOut() {
    var watch = RenderingWatch()
    let asked = [10, 11.5].map { watch.note(at: at($0)) }
    #expect(asked == [true, false], "one who checks is enough")
    #expect(watch.isRendering && watch.hasRendered)
    let waits = [12, 13.5].map { watch.check(at: at($0)) }
    #expect(waits == [.milliseconds(1500), nil])
    #expect(!watch.isRendering && watch.hasRendered)
    let isAskedAgain = watch.note(at: at(20))
    #expect(isAskedAgain && watch.isRendering)
  }

  @Test func anotherTrackBeginsAnew() {
    var watch = RenderingWatch()
    _ = watch.note(at: at(1))
    watch.begin()
    #expect(!watch.isRendering && !watch.hasRendered)
    let isAsked = watch.note(at: at(2))
    let wait = watch.check(at: at(3))
    #expect(!isAsked && wait == .seconds(1), "the one who checks is still about to")
    watch.begin()
    let rest = watch.check(at: at(4))
    let isAskedAgain = watch.note(at: at(5))
    #expect(rest == nil && isAskedAgain)
  }
}
