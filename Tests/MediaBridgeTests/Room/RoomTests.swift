import BridgeTesting
import Foundation
import LiveKitProtocol
import MediaBridge
import MediaCore
import Testing

@Suite("A room through the library")
struct RoomTests {
  @Test func framesAndSoundReachRenderersUntilTheyAreRemoved() async throws {
    // Media goes on when nobody renders it.
    try await Watcher.run(RoomOptions(adaptiveStream: false)) { watcher in
      let room = watcher.room
      #expect(room.connectionState == .connected)
      let (video, audio) = try await watcher.tracks()
      let frames = Locked(0)
      let samples = Locked(0)
      let picture = VideoFrameHandler { frame in
        #expect(frame.dimensions == Dimensions(width: 640, height: 360))
        frames.withLock { $0 += 1 }
      }
      let sound = Listener { samples.withLock { $0 += 1 } }
      video.add(videoRenderer: picture)
      audio.add(audioRenderer: sound)
      try await eventually("frames and sound") { frames.withLock { $0 } > 20 && samples.withLock { $0 } > 20 }
      video.remove(videoRenderer: picture)
      audio.remove(audioRenderer: sound)
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
      try await guest.connect(url: watcher.synthetic.url, token: try await SyntheticRoom.token("guest", grant))
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
      try await room.connect(url: synthetic.url, token: try await SyntheticRoom.token("watcher"))
      #expect(room.connectionState == .connected)
      await room.disconnect()
      #expect(room.connectionState == .disconnected)
    }
    await synthetic.stop()
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
