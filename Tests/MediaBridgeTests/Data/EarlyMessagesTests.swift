import Foundation
import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

struct EarlyMessagesTests {
  private var early = EarlyMessages()
  private let start = MediaTime(nanoseconds: 0)

  private func packet(_ text: String) -> Livekit_DataPacket {
    var user = Livekit_UserPacket()
    user.payload = Data(text.utf8)
    return Livekit_DataPacket(.user(user), to: [])
  }

  private func texts(_ packets: [Livekit_DataPacket]) -> [String] {
    packets.map { String(decoding: $0.user.payload, as: UTF8.self) }
  }

  @Test mutating func whatComesBeforeItsSenderIsAnnouncedWaitsInOrder() {
    #expect(early.take(packet("one"), from: "agent", isAnnounced: false, at: start) == .waits(isFirst: true))
    #expect(early.take(packet("two"), from: "agent", isAnnounced: false, at: start) == .waits(isFirst: false))
    #expect(early.take(packet("of another"), from: "alice", isAnnounced: true, at: start) == .ready)
    #expect(texts(early.release("agent", isAnnounced: true)) == ["one", "two"])
    #expect(early.take(packet("three"), from: "agent", isAnnounced: true, at: start) == .ready)
    #expect(early.release("agent", isAnnounced: false).isEmpty, "the end of the wait")
  }

  @Test mutating func whoIsHiddenIsWaitedForOnce() {
    #expect(early.take(packet("one"), from: "hidden", isAnnounced: false, at: start) == .waits(isFirst: true))
    #expect(texts(early.release("hidden", isAnnounced: false)) == ["one"])
    #expect(early.take(packet("two"), from: "hidden", isAnnounced: false, at: start) == .ready)
  }

  /// Nobody says when they leave.
  @Test mutating func notAllWhoWereHiddenAreKnownForEver() {
    for number in 0...EarlyMessages.unannouncedLimit {
      _ = early.take(packet("one"), from: "hidden \(number)", isAnnounced: false, at: start)
      _ = early.release("hidden \(number)", isAnnounced: false)
    }
    #expect(early.unannounced == ["hidden \(EarlyMessages.unannouncedLimit)"])
  }

  /// An agent that is not known yet says something in its own name, and then in that of who is known.
  @Test mutating func whatFollowsWhatWaitsWaitsToo() {
    #expect(early.take(packet("one"), from: "PA_agent", isAnnounced: false, at: start) == .waits(isFirst: true))
    #expect(early.take(packet("two"), from: "PA_agent", isAnnounced: true, at: start) == .waits(isFirst: false))
    #expect(texts(early.release("PA_agent", isAnnounced: true)) == ["one", "two"])
  }

  /// A text and its end come by UDP, and word that its sender has left by the WebSocket.
  @Test mutating func whatComesBehindWhoHasLeftIsReadForASecond() {
    early.noteLeft("PA_bot", at: start)
    #expect(early.mayGoOn("PA_bot") && !early.mayGoOn("PA_alice"))
    for text in ["header", "bye", "trailer"] {
      let now = start + .milliseconds(900)
      #expect(early.take(packet(text), from: "PA_bot", isAnnounced: false, at: now) == .ready)
      #expect(early.takeGone(at: now).isEmpty)
    }
    #expect(early.takeGone(at: start + EarlyMessages.lateness) == ["PA_bot"])
    #expect(early.takeGone(at: start + .seconds(9)).isEmpty && !early.mayGoOn("PA_bot"))
  }

  @Test mutating func whoComesBackAtOnceIsNotLate() {
    early.noteLeft("PA_first", at: start)
    #expect(early.take(packet("new"), from: "PA_second", isAnnounced: false, at: start) == .waits(isFirst: true))
    #expect(texts(early.release("PA_second", isAnnounced: true)) == ["new"])
    #expect(early.take(packet("old"), from: "PA_first", isAnnounced: true, at: start) == .ready)
    #expect(early.take(packet("new"), from: "PA_second", isAnnounced: true, at: start) == .ready)
  }

  @Test mutating func whoIsBackIsAnotherOne() {
    early.noteLeft("alice", at: start)
    #expect(early.take(packet("behind"), from: "alice", isAnnounced: false, at: start) == .ready)
    #expect(early.release("alice", isAnnounced: true).isEmpty, "she is back")
    #expect(early.takeGone(at: start + .seconds(9)).isEmpty)
    #expect(early.take(packet("now"), from: "alice", isAnnounced: true, at: start) == .ready)
    early.noteLeft("alice", at: start)
    let later = start + .seconds(2)
    #expect(early.take(packet("back"), from: "alice", isAnnounced: false, at: later) == .waits(isFirst: true))
  }

  @Test mutating func whatIsAboutTheMomentDoesNotWait() {
    var lossy = packet("now")
    lossy.kind = .lossy
    #expect(early.take(lossy, from: "agent", isAnnounced: false, at: start) == .ready)
    let call = Livekit_DataPacket(.rpcRequest(Livekit_RpcRequest()), to: [])
    #expect(early.take(call, from: "agent", isAnnounced: false, at: start) == .ready)
    #expect(early.origins.isEmpty)
  }

  private func header(_ id: String, _ topic: String) -> Livekit_DataPacket {
    var header = Livekit_DataStream.Header()
    (header.streamID, header.topic) = (id, topic)
    return Livekit_DataPacket(.streamHeader(header), to: [])
  }

  private func chunk(_ id: String) -> Livekit_DataPacket {
    var chunk = Livekit_DataStream.Chunk()
    chunk.streamID = id
    return Livekit_DataPacket(.streamChunk(chunk), to: [])
  }

  private func trailer(_ id: String) -> Livekit_DataPacket {
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = id
    return Livekit_DataPacket(.streamTrailer(trailer), to: [])
  }

  @Test mutating func aCallThatIsAStreamDoesNotWait() {
    let text = [header("text", "lk.chat"), chunk("text"), trailer("text")]
    let call = [header("call", "lk.rpc_request"), chunk("call"), trailer("call")]
    for (index, packet) in text.enumerated() {
      let verdict = early.take(packet, from: "agent", isAnnounced: false, at: start)
      #expect(verdict == .waits(isFirst: index == 0))
    }
    for packet in call { #expect(early.take(packet, from: "agent", isAnnounced: false, at: start) == .ready) }
    // It has ended.
    #expect(early.take(chunk("call"), from: "agent", isAnnounced: false, at: start) == .waits(isFirst: false))
    #expect(early.take(chunk("call"), from: "another", isAnnounced: false, at: start) == .waits(isFirst: true))
  }

  @Test mutating func noMoreThanSomeWait() {
    for number in 1..<EarlyMessages.limit {
      #expect(
        early.take(packet("\(number)"), from: "agent", isAnnounced: false, at: start) == .waits(isFirst: number == 1))
    }
    #expect(early.take(packet("the last"), from: "agent", isAnnounced: false, at: start) == .full)
    #expect(early.release("agent", isAnnounced: false).count == EarlyMessages.limit)
    #expect(early.origins.isEmpty)
  }
}
