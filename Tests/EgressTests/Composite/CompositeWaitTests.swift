import BridgeTesting
import Foundation
import MediaBridge
import MediaCore
import Testing

@testable import Egress

/// A composite that waits for somebody.
@Suite struct CompositeWaitTests {
  /// It may wait for days, and mixing costs as much without anybody.
  @Test func nothingIsMixedBeforeSomebodyPublishes() async throws {
    let folder = try TemporaryFolder()
    let server = try await SyntheticRoom.start(codecs: [:], size: Dimensions(width: 320, height: 180))
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let options = CompositeOptions(file: folder.path + "/a.mkv", wait: .seconds(60))
    let composite = RoomComposite(room: room, options: options)
    let told = Collector<String>(composite.events) { if case .waiting(let missing) = $0 { missing } else { nil } }
    async let start: Void = composite.start()
    try await eventually("that it waits") { told.values == ["somebody to publish"] }
    let mixesForNobody = await composite.mixing.isStarted
    #expect(!mixesForNobody)
    try await server.join("alice")
    try await start
    let mixes = await composite.mixing.isStarted
    #expect(mixes)
    let done = try await composite.finish()
    #expect(done.destinations.map(\.state) == [.complete])
    await room.disconnect()
    await server.stop()
  }

  /// The room may stay empty, or be the wrong one.
  @Test(arguments: ["a.mkv", "a.m3u8"]) func whatIsWrittenOverStaysUntilSomethingComes(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let file = "\(folder.path)/\(name)"
    try "yesterday".write(toFile: file, atomically: false, encoding: .utf8)
    let server = try await SyntheticRoom.start(codecs: [:])
    let room = Room(roomOptions: RoomOptions(autoSubscribe: false, audioPlayback: .off))
    try await room.connect(url: server.url, token: try SyntheticRoom.token("mixer"))
    let composite = RoomComposite(room: room, options: CompositeOptions(file: file, wait: .seconds(60)))
    let told = Collector<String>(composite.events) { if case .waiting(let missing) = $0 { missing } else { nil } }
    let start = Task { try await composite.start() }
    try await eventually("that it waits") { told.values == ["somebody to publish"] }
    #expect(throws: LiveKitError.self, "nobody else may take it meanwhile") { _ = try FileClaim(file) }
    _ = try await composite.finish()
    let error = await #expect(throws: LiveKitError.self) { try await start.value }
    #expect(error?.code == .cancelled)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "yesterday")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
    await room.disconnect()
    await server.stop()
  }
}
