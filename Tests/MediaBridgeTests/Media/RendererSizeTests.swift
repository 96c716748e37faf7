import BridgeTesting
import Dispatch
import Egress
import Foundation
import MediaCore
import Testing

@testable import MediaBridge

/// Writes down what it is told, in order.
private final class Recorder: VideoRenderer, Sendable {
  let told = Collector<String>()
  @MainActor func set(size: CGSize) { told.add("size \(Int(size.width))") }
  func render(frame: VideoFrame) { told.add("frame \(frame.dimensions.width)") }
}

/// Somebody who needs the main actor for long.
private struct BusyMainActor {
  private let end = DispatchSemaphore(value: 0)
  private let task: Task<Void, Never>

  /// Begins.
  init() async {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    task = Task { @MainActor [end] in
      begin.finish()
      _ = end.wait(timeout: .now() + 10)
    }
    for await _ in begun {}
  }

  func end() async {
    end.signal()
    await task.value
  }
}

/// When a renderer is told the size of its frames.
@Suite(.serialized, .timeLimit(.minutes(1))) struct RendererSizeTests {
  private func frame(_ width: Int) throws -> VideoFrame {
    let buffer = try #require(QuadrantFrame(width: width, height: 16).i420())
    return VideoFrame(buffer: buffer, time: .now)
  }

  /// - Parameter patience: long, unless the test is of it: other tests make the main actor busy.
  private func list(with renderer: Recorder, patience: Duration = .seconds(30)) -> RendererList<VideoFrame> {
    let list = RendererList<VideoFrame>(limit: 100, patience: patience)
    #expect(list.add(renderer, calls: RemoteVideoTrack.calls(renderer)))
    return list
  }

  @Test func eachSizeIsToldBeforeItsFirstFrame() async throws {
    let renderer = Recorder()
    let list = list(with: renderer)
    let widths = [32, 32, 64, 64, 64, 32, 48]
    for width in widths { list.deliver(try frame(width)) }
    try await eventually("all frames") { renderer.told.values.filter { $0.hasPrefix("frame") }.count == 7 }
    #expect(
      renderer.told.values == [
        "size 32", "frame 32", "frame 32", "size 64", "frame 64", "frame 64", "frame 64", "size 32",
        "frame 32", "size 48", "frame 48",
      ])
    #expect(list.remove(renderer))
  }

  @Test func framesDoNotWaitLongForABusyMainActor() async throws {
    let renderer = Recorder()
    let list = list(with: renderer, patience: .milliseconds(100))
    let busy = await BusyMainActor()
    for width in [32, 64, 48] { list.deliver(try frame(width)) }
    // It is waited for once, and not for each size.
    try await eventually("frames without a size") {
      renderer.told.values == ["frame 32", "frame 64", "frame 48"]
    }
    await busy.end()
    try await eventually("the newest size") { renderer.told.values.last == "size 48" }
    #expect(renderer.told.count == 4)
    #expect(list.remove(renderer))
  }

  @Test func whoWasRemovedIsToldNothing() async throws {
    let renderer = Recorder()
    let list = list(with: renderer, patience: .milliseconds(1))
    let busy = await BusyMainActor()
    list.deliver(try frame(32))
    try await eventually("a frame without a size") { renderer.told.count == 1 }
    #expect(list.remove(renderer))
    await busy.end()
    // Whatever was on its way to the main actor has been there.
    await MainActor.run {}
    #expect(renderer.told.values == ["frame 32"])
  }

  @Test func aRendererMayRemoveItselfWhenItIsToldItsSize() async throws {
    let renderer = Recorder()
    let list = RendererList<VideoFrame>(limit: 3, patience: .seconds(30))
    let sizes = Locked(0)
    let calls = RendererCalls<VideoFrame>(
      notice: { _ in
        {
          sizes.withLock { $0 += 1 }
          _ = list.remove(renderer)
        }
      }, render: { renderer.render(frame: $0) })
    #expect(list.add(renderer, calls: calls))
    for _ in 0..<3 { list.deliver(try frame(32)) }
    try await eventually("its end") { list.isEmpty }
    await MainActor.run {}
    #expect(sizes.withLock { $0 } == 1 && renderer.told.values.isEmpty)
  }

  /// Whoever is last, who is shown to and what is needed agree.
  @Test func aRendererThatTwoThreadsAddAndRemoveIsEitherThereOrNot() async throws {
    try await Watcher.run { watcher in
      let (video, _) = try await watcher.tracks()
      let small = await SmallScreen()
      video.add(videoRenderer: small)
      _ = await MainActor.run { video.readDemands() }
      let need = TrackDemand.size(Dimensions(width: 160, height: 90))
      var (stayed, went) = (0, 0)
      for _ in 0..<5000 {
        let other = VideoFrameHandler { _ in }
        DispatchQueue.concurrentPerform(iterations: 2) { index in
          for _ in 0..<2 {
            index == 0 ? video.add(videoRenderer: other) : video.remove(videoRenderer: other)
          }
        }
        let isThere = video.droppedFrames(of: other) != nil
        if isThere { stayed += 1 } else { went += 1 }
        guard video.demand == (isThere ? .everything : need) else {
          Issue.record("there: \(isThere), needed: \(video.demand)")
          break
        }
        video.remove(videoRenderer: other)
      }
      #expect(stayed > 0 && went > 0)
      video.remove(videoRenderer: small)
      #expect(video.demand == .nothing)
    }
  }
}

private final class SmallScreen: VideoRenderer, Sendable {
  @MainActor init() {}
  @MainActor var isAdaptiveStreamEnabled: Bool { true }
  @MainActor var adaptiveStreamSize: CGSize { CGSize(width: 160, height: 90) }
}
