import MediaCore
import Testing

@testable import RTP

/// A sender without RTX pads under the numbers of the media. What is lost of that never comes, and nothing needs it.
@Suite struct LostPaddingTests {
  private static let formats: [PayloadType: RTPReceiver.Format] = [
    PayloadType(96): .video(.vp8), PayloadType(97): .video(.vp9),
  ]

  /// A packet of VP8 with a picture id of 15 bits.
  private func vp8(_ number: Int, frame: UInt16, begins: Bool = true, ends: Bool = true, isKey: Bool = false)
    -> RTPPacket
  {
    .media(
      number, timestamp: UInt32(frame) * 3000, marker: ends,
      payload: [begins ? 0x90 : 0x80, 0x80, UInt8(0x80 | frame >> 8), UInt8(frame & 255), isKey ? 0 : 1, 0, 0, 0])
  }

  /// A packet of VP9 with a picture id of 7 bits, of one layer.
  private func vp9(_ number: Int, frame: UInt8, isKey: Bool = false) -> RTPPacket {
    .media(
      number, type: 97, timestamp: UInt32(frame) * 3000, marker: true,
      payload: [isKey ? 0x8c : 0xcc, frame, isKey ? 0x82 : 0x86, 0])
  }

  private func padding(_ number: Int) -> RTPPacket { .media(number, payload: []) }

  private struct Run {
    /// Of what is handed on.
    var numbers: [UInt16] = []
    /// Whether anything is asked for of what has not come.
    var isAsked = false
    /// As it is reported to the sender.
    var reportedLoss: Int?
    var statistics = RTPReceiver.Statistics()
  }

  private func run(_ packets: [RTPPacket]) -> Run {
    var receiver = RTPReceiver(
      configuration: .init(clockRate: 90_000, formats: Self.formats, usesNACK: true, usesPLI: true))
    var run = Run()
    for packet in packets { run.numbers += receiver.receive(packet, at: .ms(0)).map(\.sequenceNumber.rawValue) }
    for time in stride(from: 20.0, to: 3000, by: 20) {
      for packet in receiver.poll(at: .ms(time)) {
        switch packet {
        case .nack, .pictureLossIndication: run.isAsked = true
        case .receiverReport(let report): run.reportedLoss = report.blocks.first?.cumulativeLost
        default: break
        }
      }
    }
    run.statistics = receiver.statistics
    return run
  }

  @Test func itIsNotWaitedFor() {
    let whole = run([vp8(65_535, frame: 0x7fff, isKey: true), padding(1), vp8(3, frame: 0), vp8(4, frame: 1)])
    #expect(whole.numbers == [65_535, 1, 0, 2, 3, 4] && !whole.isAsked)
    #expect(whole.reportedLoss == 2, "the sender is told of what the network lost")
    #expect(whole.statistics.packetsLost == 0, "and nobody misses it")
    let other = run([vp9(1, frame: 0x7f, isKey: true), vp9(4, frame: 0)])
    #expect(other.numbers == [1, 2, 3, 4] && !other.isAsked)
  }

  @Test func whatMayBeMediaIsAskedFor() {
    let first = vp8(1, frame: 7, isKey: true)
    for behind in [vp8(3, frame: 9), vp8(3, frame: 8, begins: false), vp8(3, frame: 7)] {
      let run = run([first, behind])
      #expect(run.numbers == [1, 3] && run.isAsked)
    }
    #expect(
      run([vp8(1, frame: 7, ends: false, isKey: true), vp8(3, frame: 8)]).isAsked, "the first one's end is missing")
    #expect(run([vp9(1, frame: 1, isKey: true), vp9(3, frame: 3)]).isAsked)
  }

  /// A retransmission of what was stood in for, or the padding itself, comes once.
  @Test func whatComesLateIsNotHandedOnAgain() {
    let run = run([vp8(1, frame: 1, isKey: true), vp8(3, frame: 2), padding(2), vp8(4, frame: 3)])
    #expect(run.numbers == [1, 2, 3, 4] && !run.isAsked)
  }
}
