import BridgeTesting
import Foundation
import LiveKitProtocol
import Logging
import Testing

@testable import MediaBridge

@Suite struct StreamReceiverTests {
  private let receiver = StreamReceiver()
  private let read = Collector<String>()

  private func open(_ topic: String, from sender: String, origin: String) {
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic, header.textHeader) = ("x", topic, .init())
    receiver.open(header, from: sender, origin: origin, Logger(label: "test"))
  }

  private func finish(_ text: String, from origin: String) {
    var chunk = Livekit_DataStream.Chunk()
    (chunk.streamID, chunk.content) = ("x", Data(text.utf8))
    receiver.take(chunk, from: origin)
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = "x"
    receiver.end(trailer, from: origin)
  }

  private func readTexts() throws {
    let handler: TextStreamHandler = { [read] reader, sender in
      let text = try await reader.readAll()
      read.add("\(sender): \(text)")
    }
    try receiver.set(handler, for: "t")
  }

  @Test func aSecondStreamOfOneIDTakesNothingFromTheFirst() async throws {
    try readTexts()
    for topic in ["t", "t", "nobody's"] { open(topic, from: "bob", origin: "PA_bob") }
    finish("hello", from: "PA_bob")
    try await eventually("the text") { read.values == ["bob: hello"] }
  }

  /// The server keeps the name that an agent gives where a text begins, and nowhere else.
  @Test func aTextInTheNameOfAnotherIsReadToItsEnd() async throws {
    try readTexts()
    open("t", from: "alice", origin: "PA_agent")
    open("t", from: "alice", origin: "PA_alice")
    finish("by the agent", from: "PA_agent")
    try await eventually("the text") { read.values == ["alice: by the agent"] }
    finish("by herself", from: "PA_alice")
    try await eventually("her own") { read.values == ["alice: by the agent", "alice: by herself"] }
  }
}
