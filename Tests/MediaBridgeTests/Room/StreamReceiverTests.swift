import BridgeTesting
import Foundation
import LiveKitProtocol
import Logging
import Testing

@testable import MediaBridge

@Suite struct StreamReceiverTests {
  @Test func aSecondStreamOfOneIDTakesNothingFromTheFirst() async throws {
    let (receiver, read, logger) = (StreamReceiver(), Collector<String>(), Logger(label: "test"))
    try receiver.set({ reader, _ in read.add(try await reader.readAll()) }, for: "t")
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic, header.textHeader) = ("x", "t", .init())
    for topic in ["t", "t", "nobody's"] {
      header.topic = topic
      receiver.open(header, from: "bob", logger)
    }
    var chunk = Livekit_DataStream.Chunk()
    (chunk.streamID, chunk.content) = ("x", Data("hello".utf8))
    receiver.take(chunk, from: "bob")
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = "x"
    receiver.end(trailer, from: "bob")
    try await eventually("the text") { read.values == ["hello"] }
  }
}
