import BridgeTesting
import Foundation
import MediaBridge
import Testing

/// Texts and files of any length between two rooms.
@Suite struct StreamTests {
  /// What a handler of texts has read, or why it could not.
  private func texts(of room: Room, _ topic: String) async throws -> Collector<Result<String, StreamError>> {
    let read = Collector<Result<String, StreamError>>()
    try await room.registerTextStreamHandler(for: topic) { reader, _ in
      do { read.add(.success(try await reader.readAll())) } catch let error as StreamError { read.add(.failure(error)) }
    }
    return read
  }

  @Test func aTextLongerThanAPieceArrivesWhole() async throws {
    try await withTwoRooms { alice, bob in
      let read = try await texts(of: bob, "t")
      let text = String(repeating: "aé😀", count: 9000)
      let info = try await alice.localParticipant.sendText(text, options: .init(topic: "t", attributes: ["a": "b"]))
      try await eventually("the text") { read.count == 1 }
      #expect(read.values == [.success(text)] && info.attributes == ["a": "b"] && info.totalLength == text.utf8.count)
    }
  }

  @Test func aFileOfTenMegabytesArrivesAsItWas() async throws {
    let folder = try TemporaryFolder()
    let sent = URL(filePath: folder.path + "/photo.jpg")
    let bytes = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
    try bytes.write(to: sent)
    try await withTwoRooms { alice, bob in
      let (files, path) = (Collector<URL>(), folder.path)
      try await bob.registerByteStreamHandler(for: "f") { reader, sender in
        #expect(reader.info.name == "photo.jpg" && reader.info.mimeType == "image/jpeg" && sender == "alice")
        files.add(try await reader.writeToFile(in: URL(filePath: path)))
      }
      try await alice.localParticipant.sendFile(sent, for: "f")
      let file = try await eventually("the file") { files.values.first }
      let written = try Data(contentsOf: file)
      #expect(file.lastPathComponent == "photo-2.jpg" && written == bytes)
    }
  }

  /// Most of it waits for the network when it has been handed on.
  @Test func aFileArrivesWholeAlthoughItsSenderLeavesAtOnce() async throws {
    let folder = try TemporaryFolder()
    let sent = URL(filePath: folder.path + "/photo.jpg")
    let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) })
    try bytes.write(to: sent)
    try await withTwoRooms { alice, bob in
      let read = Collector<Result<Data, StreamError>>()
      try await bob.registerByteStreamHandler(for: "f") { reader, _ in
        do { read.add(.success(try await reader.readAll())) } catch let error as StreamError {
          read.add(.failure(error))
        }
      }
      try await alice.localParticipant.sendFile(sent, for: "f")
      await alice.disconnect()
      try await eventually("the end") { read.count == 1 }
      #expect(read.values == [.success(bytes)])
    }
  }

  @Test func whatIsGivenUpOrCutIsAnError() async throws {
    try await withTwoRooms { alice, bob in
      let read = try await texts(of: bob, "t")
      let given = try await alice.localParticipant.streamText(for: "t")
      try await given.write("begun")
      try await given.close(reason: "no more")
      try await eventually("the end") { read.values == [.failure(.abnormalEnd(reason: "no more"))] }
      await #expect(throws: StreamError.unknownStream) { try await given.write("more") }
      let cut = try await alice.localParticipant.streamText(for: "t")
      try await cut.write("begun")
      await alice.disconnect()
      try await eventually("the cut") { read.values.last == .failure(.terminated) }
      await #expect(throws: LiveKitError.self) { try await cut.write("more") }
    }
  }

  /// Whoever reads it does not wait for the rest.
  @Test func aStreamThatCannotGoOnEndsForItsReadersToo() async throws {
    try await withTwoRooms { alice, bob in
      let ends = Collector<StreamError>()
      try await bob.registerByteStreamHandler(for: "b") { reader, _ in
        do { _ = try await reader.readAll() } catch let error as StreamError { ends.add(error) }
      }
      let writer = try await alice.localParticipant.streamBytes(options: StreamByteOptions(topic: "b", totalSize: 5))
      try await writer.write(Data(repeating: 1, count: 4))
      await #expect(throws: StreamError.lengthExceeded) { try await writer.write(Data(repeating: 1, count: 4)) }
      try await eventually("the end") { ends.count == 1 }
      #expect(ends.values == [.abnormalEnd(reason: StreamError.lengthExceeded.description)])
    }
  }

  /// It would be sent to its end, however long that takes.
  @Test func aTextWhoseTaskIsCancelledEndsForAll() async throws {
    try await withTwoRooms { alice, bob in
      let read = try await texts(of: bob, "t")
      let writer = try await alice.localParticipant.streamText(for: "t")
      try await writer.write("begun")
      let writing = Task { try await writer.write(String(repeating: "x", count: 1_000_000)) }
      writing.cancel()
      let error = await #expect(throws: LiveKitError.self) { try await writing.value }
      #expect(error?.code == .cancelled && !writer.isOpen)
      try await eventually("the end") { read.count == 1 }
      guard case .failure(.abnormalEnd(let reason)) = read.values[0] else { return #expect(Bool(false)) }
      #expect(reason.contains("stopped"))
    }
  }

  /// LiveKit's clients send no longer one, and a server may end the channel for it.
  @Test func whatIsSaidAheadOfAStreamHasALimit() async throws {
    try await withTwoRooms { alice, bob in
      let read = try await texts(of: bob, "t")
      let thumbnail = String(repeating: "x", count: 15_000)
      let error = await #expect(throws: LiveKitError.self) {
        try await alice.localParticipant.sendText("a", options: .init(topic: "t", attributes: ["image": thumbnail]))
      }
      #expect(error?.code == .invalidParameter)
      let writer = try await alice.localParticipant.streamText(for: "t")
      try await writer.close(reason: String(repeating: "y", count: 100_000))
      try await eventually("the end") { read.count == 1 }
      #expect(read.values == [.failure(.abnormalEnd(reason: String(repeating: "y", count: 1000)))])
    }
  }

  @Test func onlyWhoIsNamedGetsIt() async throws {
    try await withTwoRooms { alice, bob in
      let read = try await texts(of: bob, "t")
      let options = StreamTextOptions(topic: "t", destinationIdentities: ["carol"])
      try await alice.localParticipant.sendText("for carol", options: options)
      try await alice.localParticipant.sendText("for all", for: "t")
      try await eventually("the text") { read.count > 0 }
      #expect(read.values == [.success("for all")])
    }
  }

  @Test func aTopicHasOneHandler() async throws {
    let room = Room()
    _ = try await texts(of: room, "t")
    await #expect(throws: StreamError.handlerAlreadyRegistered) { _ = try await texts(of: room, "t") }
    await room.unregisterTextStreamHandler(for: "t")
    _ = try await texts(of: room, "t")
  }
}
