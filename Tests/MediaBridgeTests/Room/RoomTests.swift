import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

@Suite("A room through the library")
struct RoomTests {
  @Test func framesAndSoundReachRenderersUntilTheyAreRemoved() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: ["alice": "vp8"])
    // Media goes on when nobody renders it.
    let room = Room(roomOptions: RoomOptions(adaptiveStream: false))
    try await room.connect(url: synthetic.url, token: try await SyntheticRoom.token("watcher"))
    #expect(room.connectionState == .connected)
    let (video, audio) = try await tracks(of: "alice", in: room)
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
    await synthetic.stop()
  }

  @Test func participantsThatComeAndGoAreTold() async throws {
    let synthetic = try await SyntheticRoom.start(codecs: [:])
    let room = Room()
    let events = room.events
    try await room.connect(url: synthetic.url, token: try await SyntheticRoom.token("watcher"))
    let guest = Room()
    try await guest.connect(
      url: synthetic.url, token: try await SyntheticRoom.token("guest", .init(room: SyntheticRoom.name, roomJoin: true))
    )
    await guest.disconnect()
    try await eventually("the guest to be gone") { room.remoteParticipants.isEmpty }
    await room.disconnect()
    var told: [String] = []
    for await event in events {
      switch event {
      case .participantConnected(let participant): told.append("+\(participant.identity ?? "")")
      case .participantDisconnected(let participant): told.append("-\(participant.identity ?? "")")
      default: break
      }
    }
    #expect(told == ["+guest", "-guest"])
    await synthetic.stop()
  }

  @Test func whoeverDisconnectsWaitsForTheEnd() async throws {
    let synthetic = try await SyntheticRoom.start()
    let room = Room()
    try await room.connect(url: synthetic.url, token: try await SyntheticRoom.token("watcher"))
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask {
          await room.disconnect()
          return room.connectionState == .disconnected && room.remoteParticipants.isEmpty
        }
      }
      for await isOver in group { #expect(isOver) }
    }
    await synthetic.stop()
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

  private func tracks(of identity: String, in room: Room) async throws -> (RemoteVideoTrack, RemoteAudioTrack) {
    try await eventually("two subscribed tracks") {
      room.remoteParticipants[identity]?.trackPublications.values.compactMap(\.track).count == 2
    }
    let tracks = room.remoteParticipants[identity]?.trackPublications.values.compactMap(\.track) ?? []
    return (
      try #require(tracks.lazy.compactMap { $0 as? RemoteVideoTrack }.first),
      try #require(tracks.lazy.compactMap { $0 as? RemoteAudioTrack }.first)
    )
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
