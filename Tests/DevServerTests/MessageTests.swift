import LiveKitProtocol
import Testing

@testable import DevServer

/// Which messages go on, and when.
@Suite struct MessageTests {
  /// A client that has come back sends again what may have been lost.
  @Test func aReliableMessageGoesOnOnce() {
    var gate = MessageGate()
    func admits(_ sequence: UInt32, isReliable: Bool = true) -> Bool {
      var packet = Livekit_DataPacket()
      packet.sequence = sequence
      return gate.admits(packet, isReliable: isReliable)
    }
    #expect(([1, 2, 5, 3, 5, 6] as [UInt32]).map { admits($0) } == [true, true, true, false, false, true])
    #expect(admits(0), "a client that does not number its messages")
    #expect(admits(3, isReliable: false), "lossy ones may come in any order")
  }

  @Test func onlyLiveKitsChannelsCarryMessages() {
    #expect(MessageChannels.isReliable("_reliable") == true && MessageChannels.isReliable("_lossy") == false)
    #expect(MessageChannels.isReliable("chat") == nil)
  }

  @Test func whatWaitedMakesRoomInItsOrder() {
    var backlog = MessageBacklog()
    let half = [UInt8](repeating: 1, count: MessageBacklog.limit / 2)
    for _ in 0..<3 {
      #expect(backlog.add(half) && backlog.add([2]) && !backlog.add(half))
      var taken: [Int] = []
      backlog.drain { message in
        taken.append(message.count)
        return taken.count < 2
      }
      #expect(taken == [half.count, 1] && !backlog.isEmpty)
      backlog.drain { _ in true }
      #expect(backlog.isEmpty)
    }
  }
}
