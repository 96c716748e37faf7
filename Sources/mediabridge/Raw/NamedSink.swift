import Egress
import MediaBridge

/// A file or a folder that has a name of its own, which is free again where nothing was written under it.
final class NamedSink: RawSink {
  private let sink: any RawSink
  private let reserved: ReservedName

  init(_ sink: any RawSink, under reserved: ReservedName) { (self.sink, self.reserved) = (sink, reserved) }

  var name: String { sink.name }
  var patience: Duration { sink.patience }
  var keepsAll: Bool { sink.keepsAll }
  var takesText: Bool { sink.takesText }
  var isHungUp: Bool { sink.isHungUp }

  func begin(header: [UInt8]) throws(LiveKitError) {
    try sink.begin(header: header)
    if !header.isEmpty { reserved.keep() }
  }

  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    try sink.write(piece, number: number)
    if piece.size > 0 { reserved.keep() }
  }

  func end() throws(LiveKitError) {
    defer { reserved.giveBack() }
    try sink.end()
  }

  func abandon() async { await sink.abandon() }
}
