import Foundation
import LiveKitProtocol
import Testing

/// Streams, cut into pieces and put together.
@Suite struct IncomingStreamsTests {
  @Test func aTextIsCutBetweenScalars() {
    let text = "x" + String(repeating: "aé€😀", count: 5000)
    let pieces = StreamPieces.cut(text)
    #expect(pieces.allSatisfy { $0.count <= StreamPieces.size && String(data: $0, encoding: .utf8) != nil })
    #expect(pieces.reduce(Data(), +) == Data(text.utf8) && StreamPieces.cut("").isEmpty)
  }

  @Test func aTextThatIsCutAnywhereIsRead() {
    let text = "aé€😀z"
    for size in 1...5 {
      var (decoder, read, bytes) = (TextDecoder(), "", Data(text.utf8)[...])
      while !bytes.isEmpty {
        read += decoder.add(Data(bytes.prefix(size))) ?? "?"
        bytes = bytes.dropFirst(size)
      }
      #expect(read == text && decoder.isWhole)
    }
    var decoder = TextDecoder()
    #expect(decoder.add(Data([0x61, 0xff])) == nil)
  }

  private func end(of chunks: [(UInt64, Int)], total: UInt64?, reason: String = "") -> StreamFault?? {
    var streams = IncomingStreams<Int>()
    var header = Livekit_DataStream.Header()
    header.streamID = "s"
    if let total { header.totalLength = total }
    guard streams.open(header, from: "alice", to: 1), !streams.open(header, from: "alice", to: 2) else { return nil }
    for (index, length) in chunks {
      var chunk = Livekit_DataStream.Chunk()
      (chunk.streamID, chunk.chunkIndex, chunk.content) = ("s", index, Data(count: length))
      if case .end(let fault, _) = streams.take(chunk, from: "alice") { return fault }
      // Another one's stream of the same name is another stream.
      if case .nothing = streams.take(chunk, from: "eve") {} else { return nil }
    }
    var trailer = Livekit_DataStream.Trailer()
    (trailer.streamID, trailer.reason) = ("s", reason)
    if case .end(let fault, _) = streams.end(trailer, from: "alice") { return fault }
    return nil
  }

  @Test func whatCannotBeHadIsOpenNoMore() {
    var streams = IncomingStreams<Int>()
    for number in 0..<IncomingStreams<Int>.limit {
      var header = Livekit_DataStream.Header()
      header.streamID = "\(number)"
      #expect(!streams.isFull(for: "alice") && streams.open(header, from: "alice", to: number))
    }
    #expect(streams.isFull(for: "alice") && !streams.isFull(for: "bob") && streams.isOpen("7", from: "alice"))
    let step = streams.fail("7", from: "alice", .damaged)
    guard case .end(.some(.damaged), 7) = step else { return #expect(Bool(false), "\(step)") }
    #expect(!streams.isFull(for: "alice") && !streams.isOpen("7", from: "alice"))
    if case .nothing = streams.fail("7", from: "alice", .damaged) {} else { #expect(Bool(false)) }
  }

  @Test func onlyWhatIsWholeEndsWithoutAFault() {
    #expect(end(of: [(0, 5), (1, 5)], total: 10) == .some(nil))
    #expect(end(of: [(0, 5), (0, 5), (1, 5)], total: nil) == .some(nil), "one that comes twice counts once")
    #expect(end(of: [(0, 5), (2, 5)], total: nil) == .some(.incomplete))
    #expect(end(of: [(0, 5)], total: 6) == .some(.incomplete))
    #expect(end(of: [(0, 5), (1, 2)], total: 6) == .some(.tooLong))
    #expect(end(of: [(0, 5)], total: 5, reason: "why") == .some(.stopped(reason: "why")))
  }
}
