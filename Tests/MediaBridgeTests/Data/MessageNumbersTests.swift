import LiveKitProtocol
import Testing

@testable import MediaBridge

@Suite struct MessageNumbersTests {
  private func message(_ text: String) throws -> [UInt8] {
    var packet = Livekit_DataPacket(.user(Livekit_UserPacket()), to: ["bob"])
    packet.user.topic = text
    return try packet.serializedBytes()
  }

  /// LiveKit's server drops what has no higher number than what came before.
  @Test func theyRiseInTheOrderInWhichMessagesAreTaken() throws {
    var (numbers, sent) = (MessageNumbers(), [[UInt8]]())
    for (text, hasRoom) in [("a", true), ("b", false), ("c", true), ("b", true)] {
      let message = try message(text)
      let isTaken = numbers.send(message) { bytes in
        if hasRoom { sent.append(bytes) }
        return hasRoom
      }
      #expect(isTaken == hasRoom)
      #expect(sent.last.map { $0.count <= message.count + MessageNumbers.size } == true)
    }
    let taken = try sent.map { try Livekit_DataPacket(serializedBytes: $0) }
    #expect(taken.map(\.sequence) == [1, 2, 3])
    #expect(taken.map(\.user.topic) == ["a", "c", "b"])
    #expect(taken.allSatisfy { $0.kind == .reliable && $0.destinationIdentities == ["bob"] })
  }
}
