import BridgeTesting
import Foundation
import MediaBridge
import Testing

@testable import Egress

/// What a job tells while it runs, in order.
@Suite struct EventsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// In a word each, with what it is about.
  private static func word(_ event: EgressEvent) -> String? {
    switch event {
    case .waiting: nil
    case .started(let participant, let tracks): "\(participant ?? "room") \(tracks.count)"
    case .destinationChanged(let status):
      "\(URL(fileURLWithPath: status.location).lastPathComponent) \(status.state)"
    case .paused: "paused"
    case .resumed: "resumed"
    case .layoutChanged(let layout): layout.rawValue
    case .ended(let info): "\(info.status)"
    default: "\(event)"
    }
  }

  @Test func eachChangeIsToldOnceUntilTheJobHasEnded() async throws {
    try await Watcher.run(RoomOptions(autoSubscribe: false), codecs: ["alice": "vp8"]) { watcher in
      let options = RecordingOptions(file: path("a.mkv"), participant: "alice", wait: .seconds(20))
      let recorder = Recorder(room: watcher.room, options: options)
      let reading = Task { [events = recorder.events] in
        await events.compactMap(Self.word).reduce(into: []) { $0.append($1) }
      }
      try await recorder.start()
      try await recorder.pause()
      try await recorder.pause()
      try await recorder.resume()
      try await recorder.add(OutputDestination(path("b.mkv")))
      try await eventually("its beginning") { await recorder.progress().destinations[1].state == .active }
      try await recorder.remove(path("b.mkv"))
      _ = try await recorder.finish()
      // It ends with the job.
      let told = await reading.value
      #expect(told.filter { !$0.hasPrefix("b.mkv") } == ["alice 2", "a.mkv active", "paused", "resumed", "complete"])
      #expect(told.filter { $0.hasPrefix("b.mkv") }.first == "b.mkv starting")
      #expect(await recorder.events.first { _ in true } == nil, "nothing is told after the end")
    }
  }

  @Test func aJobThatFailsToStartEndsItsEvents() async throws {
    let room = Room()
    let jobs: [any EgressJob] = [
      Recorder(room: room, options: RecordingOptions(file: path("a.avi"))),
      RoomComposite(room: room, options: CompositeOptions(file: path("a.avi"))),
      RecorderGroup(room: room, each: .track, options: RecordingOptions(file: path("a.mkv"))),
    ]
    for job in jobs {
      let events = job.events
      await #expect(throws: LiveKitError.self) { try await job.start() }
      let told = await events.reduce(into: []) { $0.append($1) }
      guard case .ended(let info)? = told.last else { throw LiveKitError(.invalidState, "the last event is the end") }
      #expect(told.count == 1 && info.status == .failed && info.endReason == .failure)
    }
  }

  @Test func whoReadsNothingKeepsTheNewest() async {
    let notifier = EgressNotifier()
    let stream = notifier.makeStream()
    for number in 0..<EgressNotifier.limit + 5 { notifier.tell(.waiting("\(number)")) }
    notifier.end()
    let kept = await stream.reduce(into: [String]()) { if case .waiting(let text) = $1 { $0.append(text) } }
    #expect(kept.count == EgressNotifier.limit && kept.first == "5" && kept.last == "\(EgressNotifier.limit + 4)")
  }
}
