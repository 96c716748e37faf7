import BridgeTesting
import Dispatch
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

@Suite("A room through the library")
struct RoomTests {
  @Test func framesAndAudioReachRenderersUntilTheyAreRemoved() async throws {
    // Media goes on when nobody renders it.
    try await Watcher.run(RoomOptions(adaptiveStream: false)) { watcher in
      let room = watcher.room
      #expect(room.connectionState == .connected)
      let (video, audio) = try await watcher.tracks()
      let frames = Locked(0)
      let samples = Locked(0)
      let viewer = VideoFrameHandler { frame in
        #expect(frame.dimensions == Dimensions(width: 640, height: 360))
        frames.withLock { $0 += 1 }
      }
      let listener = Listener { samples.withLock { $0 += 1 } }
      video.add(videoRenderer: viewer)
      audio.add(audioRenderer: listener)
      try await eventually("frames and audio") { frames.withLock { $0 } > 20 && samples.withLock { $0 } > 20 }
      video.remove(videoRenderer: viewer)
      audio.remove(audioRenderer: listener)
      let counted = (frames.withLock { $0 }, samples.withLock { $0 })
      try await eventually("more packets") { await Self.packets(of: "alice", in: room) > counted.0 + 50 }
      #expect((frames.withLock { $0 }, samples.withLock { $0 }) == counted, "calls after the removal")
      await room.disconnect()
      #expect(room.connectionState == .disconnected && room.remoteParticipants.isEmpty)
    }
  }

  @Test func participantsThatComeAndGoAreTold() async throws {
    let events = Collector<RoomEvent>()
    try await Watcher.run(codecs: [:], events: events) { watcher in
      let guest = Room()
      let grant = VideoGrant(room: SyntheticRoom.name, roomJoin: true)
      try await guest.connect(url: watcher.synthetic.url, token: try SyntheticRoom.token("guest", grant))
      await guest.disconnect()
      try await eventually("the guest to be gone") { watcher.room.remoteParticipants.isEmpty }
    }
    let told = events.values.compactMap { event in
      switch event {
      case .participantConnected(let participant): "+\(participant.identity ?? "")"
      case .participantDisconnected(let participant): "-\(participant.identity ?? "")"
      default: nil
      }
    }
    #expect(told == ["+guest", "-guest"])
    let left = events.values.compactMap { event -> ParticipantState? in
      if case .participantDisconnected(let participant) = event { participant.state } else { nil }
    }
    #expect(left == [.disconnected])
  }

  @Test func aPublicationKnowsWhoseItIsAndKeepsNobody() async throws {
    var kept: RemoteTrackPublication?
    weak var alice: Participant?
    try await Watcher.run { watcher in
      let camera = try await watcher.camera()
      #expect(camera.participant === watcher.room.remoteParticipants["alice"] && camera.participant != nil)
      (kept, alice) = (camera, camera.participant)
    }
    try await eventually("the participant to be gone") { [weak alice] in alice == nil }
    #expect(try #require(kept).participant == nil)
  }

  @Test func whoeverDisconnectsWaitsForTheEnd() async throws {
    try await Watcher.run { watcher in
      let room = watcher.room
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<4 {
          group.addTask {
            await room.disconnect()
            return room.connectionState == .disconnected && room.remoteParticipants.isEmpty
          }
        }
        for await isOver in group { #expect(isOver) }
      }
    }
  }

  @Test func aRoomMayBeConnectedAgain() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let room = Room()
    for _ in 0..<2 {
      try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
      #expect(room.connectionState == .connected)
      await room.disconnect()
      #expect(room.connectionState == .disconnected)
    }
    await synthetic.stop()
  }

  /// While a delegate is still busy with the end of the one before.
  @Test func eventsThatAreAskedForAfterTheEndAreOfTheNextConnection() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let delegate = SlowLeaver()
    let room = Room(delegate: delegate)
    let before = room.events
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
    await room.disconnect()
    let after = room.events
    try await room.connect(url: synthetic.url, token: try SyntheticRoom.token("watcher"))
    await room.disconnect()
    let firsts = try await eventually("what the delegate asked for") { delegate.events.values.first }
    for (events, what) in [(before, "made before"), (after, "made after"), (firsts, "made by a delegate")] {
      var told: [String] = []
      for await case .connectionStateChanged(let state, from: _) in events { told.append("\(state)") }
      #expect(told == ["connecting", "connected", "disconnecting", "disconnected"], "\(what)")
    }
    await synthetic.stop()
  }

  /// Whoever connects while another connection ends gets one of their own, and is told of one after the other.
  @Test func aRoomMayBeConnectedWhileItEnds() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let room = Room()
    let states = Collector<ConnectionState>()
    let listener = StateListener(states)
    room.add(delegate: listener)
    let token = try SyntheticRoom.token("watcher")
    try await room.connect(url: synthetic.url, token: token)
    for _ in 0..<20 {
      let connecting = Task.detached {
        while true {
          do throws(LiveKitError) { return try await room.connect(url: synthetic.url, token: token) } catch {
            guard error.code == .invalidState else { throw error }
          }
          await Task.yield()
        }
      }
      await room.disconnect()
      try await connecting.value
      #expect(room.connectionState == .connected && room.disconnectError == nil)
    }
    await room.disconnect()
    let connection: [ConnectionState] = [.connecting, .connected, .disconnecting, .disconnected]
    try await eventually("word of all") { states.count == 84 }
    #expect(states.values == (0..<21).flatMap { _ in connection })
    await synthetic.stop()
  }

  /// The end of the room included.
  @Test func aRendererThatGetsStuckHoldsUpNobodyElse() async throws {
    let mayGoOn = DispatchSemaphore(value: 0)
    let (stuck, shown) = (Collector<Int64>(), Collector<MediaTime>())
    let first = VideoFrameHandler { frame in
      stuck.add(frame.timeStampNs)
      if stuck.count == 50 { _ = mayGoOn.wait(timeout: .now() + 20) }
    }
    let second = VideoFrameHandler { _ in shown.add(.now) }
    defer { for _ in 0..<10 { mayGoOn.signal() } }
    try await Watcher.run { watcher in
      let (video, _) = try await watcher.tracks()
      for renderer in [first, second] { video.add(videoRenderer: renderer) }
      try await eventually("a renderer that is stuck") { stuck.count == 50 }
      let before = shown.count
      try await eventually("frames for the other one") { shown.count > before + 50 }
      let times = shown.values.suffix(50)
      #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < .milliseconds(500) })
      #expect(stuck.count == 50 && video.droppedFrames(of: first) ?? 0 > 30)
      video.remove(videoRenderer: second)
      let left = MediaTime.now
      await watcher.room.disconnect()
      #expect(MediaTime.now - left < .seconds(5))
      let removal = Task.detached { video.remove(videoRenderer: first) }
      mayGoOn.signal()
      await removal.value
      // Until it is removed it may get what waited.
      let last = stuck.count
      try await Task.sleep(for: .milliseconds(100))
      #expect(stuck.count == last)
    }
  }

  private static func packets(of identity: String, in room: Room) async -> Int {
    var packets = 0
    for publication in room.remoteParticipants[identity]?.trackPublications.values.map({ $0 }) ?? [] {
      packets += await publication.reception()?.packetsReceived ?? 0
    }
    return packets
  }
}

private final class Listener: AudioRenderer {
  private let heard: @Sendable () -> Void
  init(_ heard: @escaping @Sendable () -> Void) { self.heard = heard }
  func render(pcmBuffer: AudioPCMBuffer) { heard() }
}

/// Takes its time over the end of a connection, and asks there for the events of the next.
private final class SlowLeaver: RoomDelegate, Sendable {
  let events = Collector<AsyncStream<RoomEvent>>()

  func room(_ room: Room, didDisconnectWithError error: LiveKitError?) {
    events.add(room.events)
    usleep(200_000)
  }
}

private final class StateListener: RoomDelegate, Sendable {
  private let states: Collector<ConnectionState>
  init(_ states: Collector<ConnectionState>) { self.states = states }
  func room(_ room: Room, didUpdateConnectionState state: ConnectionState, from old: ConnectionState) {
    states.add(state)
  }
}
