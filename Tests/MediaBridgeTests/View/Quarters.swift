import BridgeTesting
import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

/// A frame of four colours, a quarter each: red and green above blue and white.
enum Quarters {
  static func colour(x: Int, y: Int, of size: Dimensions) -> Colour {
    let isLeft = x < Int(size.width) / 2
    return y < Int(size.height) / 2 ? (isLeft ? .red : .green) : (isLeft ? .blue : .white)
  }

  static func frame(_ size: Dimensions, rotation: VideoRotation = ._0) throws -> VideoFrame {
    var bytes: [UInt8] = []
    for y in 0..<Int(size.height) {
      for x in 0..<Int(size.width) {
        let colour = colour(x: x, y: y, of: size)
        bytes += [UInt8(colour.red), UInt8(colour.green), UInt8(colour.blue), 255]
      }
    }
    let caps = try #require(
      Caps("video/x-raw,format=RGBA,width=\(size.width),height=\(size.height),framerate=0/1"))
    let time = MediaTime.now
    let media = bytes.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: time, quarterTurns: rotation.rawValue / 90)
    }
    return VideoFrame(buffer: try #require(VideoFrameBuffer(media)), time: time)
  }

  /// All of it white, and in I420.
  static func white(_ size: Dimensions) throws -> VideoFrame {
    let (width, height, time) = (Int(size.width), Int(size.height), MediaTime.now)
    let bytes =
      [UInt8](repeating: 235, count: width * height) + [UInt8](repeating: 128, count: width * height / 2)
    let media = bytes.withUnsafeBytes { MediaBuffer.packedI420($0, width: width, height: height, pts: time) }
    return VideoFrame(buffer: try #require(media.flatMap(VideoFrameBuffer.init)), time: time)
  }
}
