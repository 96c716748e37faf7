import BridgeTesting
import LiveKitProtocol
import MediaBridge
import Testing

/// Tracks whose publisher does not let everyone receive them.
@Suite struct PermissionTests {
  private struct Scene: Sendable {
    let watcher: Watcher
    let events: Collector<RoomEvent>

    func denials(of publication: RemoteTrackPublication) -> [LiveKitError] {
      events.values.compactMap { event in
        guard case .subscriptionFailed(let participant, publication.sid, let error) = event else { return nil }
        return participant.identity == "alice" ? error : nil
      }
    }

    func changes(of publication: RemoteTrackPublication) -> [Bool] {
      events.values.compactMap { event in
        guard case .subscriptionAllowedChanged(_, let changed, let isAllowed) = event else { return nil }
        return changed === publication ? isAllowed : nil
      }
    }

    func told(_ publication: RemoteTrackPublication, denials count: Int, changes expected: [Bool]) async throws {
      try await eventually("word of the last change") { changes(of: publication).count >= expected.count }
      #expect(changes(of: publication) == expected && denials(of: publication).count == count)
    }

    func isDenied(_ publication: RemoteTrackPublication) async throws {
      try await eventually("the denial") { publication.subscriptionState == .notAllowed && publication.track == nil }
      #expect(!publication.isSubscriptionAllowed && !publication.isSubscribed)
    }

    func isSubscribed(_ publication: RemoteTrackPublication) async throws {
      try await eventually("the subscription") { publication.subscriptionState == .subscribed }
      #expect(publication.isSubscriptionAllowed && publication.isSubscribed && publication.track != nil)
    }
  }

  private func run(autoSubscribe: Bool = true, _ body: (Scene, RemoteTrackPublication) async throws -> Void)
    async throws
  {
    let events = Collector<RoomEvent>()
    try await Watcher.run(RoomOptions(autoSubscribe: autoSubscribe, adaptiveStream: false), events: events) { watcher in
      let camera = try await eventually("the camera") { watcher.room.remoteParticipants["alice"]?.videoTracks.first }
      try await body(Scene(watcher: watcher, events: events), camera)
    }
  }

  @Test func eachDenialIsToldOnceAndWhatIsAllowedAgainComesByItself() async throws {
    try await run { scene, camera in
      try await scene.isSubscribed(camera)
      for round in 1...2 {
        try await scene.watcher.synthetic.allow(false)
        try await scene.isDenied(camera)
        try await eventually("word of it") { scene.denials(of: camera).count == round }
        try await scene.watcher.synthetic.allow(true)
        try await scene.isSubscribed(camera)
      }
      let denial = try #require(scene.denials(of: camera).first)
      #expect(denial.code == .permissionDenied)
      #expect(
        denial.message.hasPrefix("camera of alice (\(camera.sid)) may not be received here; its publisher has to"))
      try await scene.told(camera, denials: 2, changes: [false, true, false, true])
    }
  }

  @Test func whoAsksForWhatIsForbiddenIsTold() async throws {
    try await run(autoSubscribe: false) { scene, camera in
      try await scene.watcher.synthetic.allow(false)
      #expect(camera.subscriptionState == .unsubscribed && scene.denials(of: camera).isEmpty)
      for round in 1...2 {
        try await camera.set(subscribed: true)
        try await eventually("word of it") { scene.denials(of: camera).map(\.code).count == round }
        try await scene.isDenied(camera)
        if round == 1 { try await camera.set(subscribed: false) }
      }
      #expect(scene.denials(of: camera).allSatisfy { $0.code == .permissionDenied })
      try await scene.watcher.synthetic.allow(true)
      try await scene.isSubscribed(camera)
      try await scene.told(camera, denials: 2, changes: [false, true])
    }
  }

  @Test func aDenialThatGoesOnInANewSessionIsNotToldAgain() async throws {
    try await run { scene, camera in
      try await scene.watcher.synthetic.allow(false)
      try await scene.isDenied(camera)
      scene.watcher.tell { $0.leave.action = .reconnect }
      try await eventually("the new session") {
        scene.events.values.contains { if case .reconnected(.full) = $0 { true } else { false } }
      }
      #expect(scene.watcher.room.remoteParticipants["alice"]?.videoTracks.first === camera)
      try await scene.isDenied(camera)
      try await scene.watcher.synthetic.allow(true)
      try await scene.isSubscribed(camera)
      try await scene.told(camera, denials: 1, changes: [false, true])
    }
  }
}
