import BridgeTesting
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridge

/// What a consumer is told, and when it is served again.
@Suite struct ConsumerRevivalTests {
  private static let lost = LiveKitError(.pipeline, "lost")
  private static let told = "lost; it is tried again"

  /// A pause ends with `wake`.
  private struct Scene: Sendable {
    let told = Collector<String>()
    let pauses = Collector<Duration>()
    let consumer = MediaConsumer(onFailure: { _ in }, onBuffer: { _ in })
    let revival: ConsumerRevival
    let wake: AsyncStream<Void>.Continuation

    /// - Parameter error: why further tries fail.
    init(error: LiveKitError? = nil) {
      let (told, pauses) = (told, pauses)
      let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
      self.wake = wake
      revival = ConsumerRevival(
        onFailure: { error, _ in told.add(error.message) }, onBegin: { told.add("begun") },
        attempt: { (_: MediaConsumer) throws(LiveKitError) in
          told.add("tried")
          if let error { throw error }
        },
        sleep: { pause in
          pauses.add(pause)
          for await _ in wakes { return }
        })
    }

    func end() {
      consumer.stop()
      wake.finish()
    }
  }

  /// A driver that loses its device says so with several errors.
  @Test func severalErrorsAreOneFailure() async throws {
    let scene = Scene()
    try scene.revival.begin(scene.consumer) {}
    for _ in 0..<3 { scene.revival.failed(Self.lost) }
    #expect(scene.told.values == ["begun", Self.told])
    scene.wake.yield()
    try await eventually("another try") { scene.told.count == 4 }
    #expect(scene.told.values.suffix(2) == ["tried", "begun"])
    scene.revival.failed(Self.lost)
    try await eventually("the next pause") { scene.pauses.count == 2 }
    #expect(scene.pauses.values == [.seconds(2), .seconds(4)] && scene.told.count == 5)
    scene.end()
  }

  /// Else the news that it works would come last.
  @Test func whatFailsAtOnceIsToldBehindItsBeginning() throws {
    let scene = Scene()
    try scene.revival.begin(scene.consumer) { scene.revival.failed(Self.lost) }
    #expect(scene.told.values == ["begun", Self.told])
    scene.end()
  }

  @Test func aTryThatFailsIsNoBeginning() throws {
    let scene = Scene(error: Self.lost)
    try scene.revival.begin(scene.consumer) {}
    scene.revival.failed(Self.lost)
    scene.revival.hurry()
    #expect(scene.told.values == ["begun", Self.told, "tried", Self.told])
    scene.end()
  }

  @Test func onlyWhoWaitsIsHurried() throws {
    let scene = Scene()
    try scene.revival.begin(scene.consumer) {}
    scene.revival.hurry()
    #expect(scene.told.values == ["begun"])
    scene.revival.failed(Self.lost)
    scene.revival.hurry()
    scene.revival.hurry()
    #expect(scene.told.values == ["begun", Self.told, "tried", "begun"])
    scene.revival.failed(Self.lost)
    scene.consumer.stop()
    scene.revival.hurry()
    #expect(scene.told.values.count == 5)
    scene.end()
  }
}
