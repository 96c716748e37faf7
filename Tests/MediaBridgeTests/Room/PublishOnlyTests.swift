import BridgeTesting
import DevServer
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

/// A token without canSubscribe: the connection on which we send is the primary one, and the only one.
@Suite struct PublishOnlyTests {
  private final class Guest: Sendable {
    let room = Room(roomOptions: RoomOptions(adaptiveStream: false))
    let events = Collector<RoomEvent>()

    init(_ identity: String, in synthetic: SyntheticRoom, canSubscribe: Bool) async throws {
      Task { [stream = room.events, events] in for await event in stream { events.add(event) } }
      var grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      grant.canSubscribe = canSubscribe
      try await room.connect(url: synthetic.url, token: try SyntheticRoom.token(identity, grant))
    }

    var texts: [String] {
      events.values.compactMap { event in
        if case .dataReceived(_, let data, _) = event { String(decoding: data, as: UTF8.self) } else { nil }
      }
    }

    var returns: [ReconnectMode] {
      events.values.compactMap { if case .reconnected(let mode) = $0 { mode } else { nil } }
    }

    func say(_ text: String) async throws {
      try await room.localParticipant.publish(data: Data(text.utf8), options: DataPublishOptions(reliable: true))
    }
  }

  /// With alice, who may only publish, and bob, who may do all, and sees her.
  private func run(_ body: (SyntheticRoom, _ alice: Guest, _ bob: Guest) async throws -> Void) async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let bob = try await Guest("bob", in: synthetic, canSubscribe: true)
    let alice = try await Guest("alice", in: synthetic, canSubscribe: false)
    let outcome: Result<Void, any Error>
    do {
      try await eventually("alice") { bob.room.remoteParticipants["alice"]?.state == .active }
      outcome = .success(try await body(synthetic, alice, bob))
    } catch { outcome = .failure(error) }
    for guest in [alice, bob] { await guest.room.disconnect() }
    await synthetic.stop()
    try outcome.get()
  }

  private func exchange(_ alice: Guest, _ bob: Guest, _ what: String) async throws {
    try await alice.say("alice \(what)")
    try await bob.say("bob \(what)")
    try await eventually("the messages \(what)") {
      bob.texts.last == "alice \(what)" && alice.texts.last == "bob \(what)"
    }
  }

  private func seeCamera(_ bob: Guest, _ what: String) async throws {
    let track = try await eventually("the camera \(what)") {
      bob.room.remoteParticipants["alice"]?.videoTracks.first?.track as? RemoteVideoTrack
    }
    let frames = Collector(track.frames()) { $0 }
    try await eventually("frames \(what)") { frames.count > 5 }
  }

  @Test func whatItPublishesIsSeenAndItReceivesNothing() async throws {
    try await run { _, alice, bob in
      #expect(!alice.room.localParticipant.permissions.canSubscribe)
      let options = CameraCaptureOptions(template: "pattern", values: ["width": "320", "height": "180"])
      try await bob.room.localParticipant.setCamera(enabled: true, captureOptions: options)
      try await alice.room.localParticipant.setCamera(enabled: true, captureOptions: options)
      try await seeCamera(bob, "of alice")
      let camera = try await eventually("bob's camera") { alice.room.remoteParticipants["bob"]?.videoTracks.first }
      #expect(!camera.isSubscribed && camera.track == nil)
    }
  }

  @Test func messagesStreamsAndCallsGoBothWays() async throws {
    try await run { _, alice, bob in
      try await exchange(alice, bob, "says")
      for (from, to) in [(alice, bob), (bob, alice)] {
        let heard = Collector<String>()
        try await to.room.registerTextStreamHandler(for: "chat") { reader, _ in heard.add(try await reader.readAll()) }
        try await to.room.registerRpcMethod("greet") { "hello \($0.callerIdentity)" }
        let text = String(repeating: "a long text ", count: 5000)
        try await from.room.localParticipant.sendText(text, for: "chat")
        try await eventually("the text") { heard.values == [text] }
        let recipient = try #require(to.room.localParticipant.identity)
        let answer = try await from.room.localParticipant.performRpc(
          destinationIdentity: recipient, method: "greet", payload: "")
        #expect(answer == "hello \(from.room.localParticipant.identity ?? "")")
      }
    }
  }

  /// A session that goes on, and a new one.
  @Test(arguments: [(Livekit_LeaveRequest.Action.resume, ReconnectMode.quick), (.reconnect, .full)])
  func itIsBroughtBack(_ action: Livekit_LeaveRequest.Action, _ mode: ReconnectMode) async throws {
    try await run { synthetic, alice, bob in
      let options = CameraCaptureOptions(template: "pattern", values: ["width": "320", "height": "180"])
      try await alice.room.localParticipant.setCamera(enabled: true, captureOptions: options)
      try await seeCamera(bob, "before")
      try await exchange(alice, bob, "before")
      let sid = alice.room.localParticipant.sid
      var response = Livekit_SignalResponse()
      response.leave.action = action
      synthetic.server.tell(response, to: "alice")
      try await eventually("the connection") { alice.returns == [mode] }
      #expect((alice.room.localParticipant.sid == sid) == (mode == .quick))
      try await eventually("alice again") {
        let seen = bob.room.remoteParticipants["alice"]
        return seen?.sid == alice.room.localParticipant.sid && seen?.state == .active
      }
      try await exchange(alice, bob, "after")
      try await seeCamera(bob, "after")
    }
  }
}
