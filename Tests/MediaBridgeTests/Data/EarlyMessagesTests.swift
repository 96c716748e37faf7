import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

struct EarlyMessagesTests {
  private var early = EarlyMessages()

  private func packet(_ text: String) -> Livekit_DataPacket {
    var user = Livekit_UserPacket()
    user.payload = Data(text.utf8)
    return Livekit_DataPacket(.user(user), to: [])
  }

  private func texts(_ packets: [Livekit_DataPacket]) -> [String] {
    packets.map { String(decoding: $0.user.payload, as: UTF8.self) }
  }

  @Test mutating func whatComesBeforeItsSenderIsAnnouncedWaitsInOrder() {
    #expect(early.take(packet("one"), from: "agent", isAnnounced: false) == .waits(isFirst: true))
    #expect(early.take(packet("two"), from: "agent", isAnnounced: false) == .waits(isFirst: false))
    #expect(early.take(packet("of another"), from: "alice", isAnnounced: true) == .ready)
    #expect(texts(early.release("agent", isAnnounced: true)) == ["one", "two"])
    #expect(early.take(packet("three"), from: "agent", isAnnounced: true) == .ready)
    #expect(early.release("agent", isAnnounced: false).isEmpty, "the end of the wait")
    #expect(early.take(packet("after a leave"), from: "agent", isAnnounced: false) == .waits(isFirst: true))
  }

  @Test mutating func whoIsHiddenIsWaitedForOnce() {
    #expect(early.take(packet("one"), from: "hidden", isAnnounced: false) == .waits(isFirst: true))
    #expect(texts(early.release("hidden", isAnnounced: false)) == ["one"])
    #expect(early.take(packet("two"), from: "hidden", isAnnounced: false) == .ready)
    #expect(early.take(packet("of the server"), from: "", isAnnounced: false) == .ready)
  }

  @Test mutating func whatIsAboutTheMomentDoesNotWait() {
    var lossy = packet("now")
    lossy.kind = .lossy
    #expect(early.take(lossy, from: "agent", isAnnounced: false) == .ready)
    let call = Livekit_DataPacket(.rpcRequest(Livekit_RpcRequest()), to: [])
    #expect(early.take(call, from: "agent", isAnnounced: false) == .ready)
    #expect(early.senders.isEmpty)
  }

  @Test mutating func noMoreThanSomeWait() {
    for number in 1..<EarlyMessages.limit {
      #expect(early.take(packet("\(number)"), from: "agent", isAnnounced: false) == .waits(isFirst: number == 1))
    }
    #expect(early.take(packet("the last"), from: "agent", isAnnounced: false) == .full)
    #expect(early.release("agent", isAnnounced: false).count == EarlyMessages.limit)
    #expect(early.senders.isEmpty)
  }
}
