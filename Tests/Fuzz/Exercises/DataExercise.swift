import LiveKitProtocol
import MediaCore
import SwiftProtobuf

extension Exercise {
  /// A step is a packet of the data channels. Sinks are counters, so that nothing can come to one that has ended.
  func data(_ steps: Steps) -> Int {
    var machine = DataMachine()
    for step in steps { machine.take(step.bytes) }
    machine.end()
    return machine.pieces
  }
}

private struct DataMachine {
  /// What one stream has come to.
  private final class Sink {
    var text = TextDecoder()
    var length: UInt64 = 0
    var isEnded = false
  }

  private var streams = IncomingStreams<Sink>()
  private var open = 0
  private(set) var pieces = 0

  mutating func take(_ bytes: [UInt8]) {
    guard let packet = try? Livekit_DataPacket(serializedBytes: bytes) else { return }
    precondition((try? packet.serializedBytes() as [UInt8]) != nil, "what was read cannot be written")
    let sender = packet.participantIdentity
    switch packet.value {
    case .streamHeader(let header): if streams.open(header, from: sender, to: Sink()) { open += 1 }
    case .streamChunk(let chunk): perform(streams.take(chunk, from: sender))
    case .streamTrailer(let trailer): perform(streams.end(trailer, from: sender))
    default: break
    }
    precondition(streams.count == open, "a stream is lost, or there twice")
  }

  mutating func end() {
    let left = streams.removeAll(from: nil)
    precondition(left.count == open && streams.count == 0 && left.allSatisfy { !$0.isEnded })
  }

  private mutating func perform(_ step: IncomingStreams<Sink>.Step) {
    switch step {
    case .nothing: break
    case .piece(let content, let sink):
      precondition(!sink.isEnded, "something comes after the end")
      sink.length += UInt64(content.count)
      _ = sink.text.add(content)
      pieces += 1
    case .end(_, let sink):
      precondition(!sink.isEnded, "a stream ends twice")
      sink.isEnded = true
      open -= 1
    }
  }
}
