import Dispatch
import GStreamerKit
import MediaBridge
import MediaCore

/// Black keyframes of AV1. Those of other codecs are written bit by bit; these an encoder makes, once for each size, beside
/// the media that is to go on meanwhile.
enum AV1Black {
  private static let made = Locked<[Dimensions: [UInt8]]>([:])
  private static let work = DispatchQueue(label: "mediabridge.black")
  /// So many sizes are kept.
  private static let limit = 16

  /// Has a keyframe made for when it is wanted.
  static func prepare(_ size: Dimensions) { work.async { _ = keyframe(of: size) } }

  /// Waits for the encoder where it was not prepared; nil where it makes none.
  static func keyframe(of size: Dimensions) -> [UInt8]? {
    if let known = made.withLock({ $0[size] }) { return known }
    guard let new = encode(size) else { return nil }
    made.withLock { made in
      if made.count >= limit { made.removeAll() }
      made[size] = new
    }
    return new
  }

  private static func encode(_ size: Dimensions) -> [UInt8]? {
    guard let frame = MediaBuffer.blackFrame(width: Int(size.width), height: Int(size.height)) else { return nil }
    let text = """
      appsrc name=in ! av1enc usage-profile=realtime cpu-used=10 min-quantizer=2 max-quantizer=56 threads=1 ! av1parse
      ! video/x-av1,stream-format=obu-stream,alignment=tu ! appsink name=out sync=false
      """
    let made = try? Pipeline(description: text, name: "black").process(
      frame, from: "in", to: "out", at: .init(nanoseconds: 0))
    return made?.withUnsafeBytes { Array($0) }
  }
}
