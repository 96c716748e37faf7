import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import Testing

@testable import MediaBridge

/// An X server without a screen, on which windows of the process open while a test runs.
///
/// `DISPLAY` belongs to the whole process, so the tests with a desktop run one after the other.
final class Desktop: Sendable {
  static let size = Dimensions(width: 800, height: 600)
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("EndToEnd/x11.py").path
  let display: String
  private let server: Unchecked<Process>

  init() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    let output = Pipe()
    process.arguments = [Self.script, "serve", "\(Self.size)"]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let number = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    try #require(Int(number) != nil, "Xvfb does not start: apt-get install xvfb python3-xlib")
    display = ":\(number)"
    server = Unchecked(process)
    setenv("DISPLAY", display, 1)
  }

  deinit {
    // Xlib ends a process whose server goes away, and a window that is closed is not yet a connection that is.
    for _ in 0..<500 where clients > 0 { usleep(10_000) }
    unsetenv("DISPLAY")
    server.value.terminate()
    server.value.waitUntilExit()
  }

  /// Connections to the server: state 03 in /proc/net/unix, where the server's ends bear the socket's name.
  var clients: Int {
    let sockets = (try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8)) ?? ""
    return sockets.split(separator: "\n").filter { line in
      let fields = line.split(separator: " ")
      return fields.count == 8 && fields[5] == "03" && fields[7].hasSuffix("/.X11-unix/X\(display.dropFirst())")
    }.count
  }

  struct Window: Hashable, Sendable {
    let id: Int
    let size: Dimensions
    let title: String
  }

  /// Those that are seen.
  func windows() throws -> [Window] {
    try act("list").split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 3).map(String.init)
      guard parts.count >= 3, let id = Int(parts[0]), let width = Int32(parts[1]), let height = Int32(parts[2]) else {
        return nil
      }
      return Window(
        id: id, size: Dimensions(width: width, height: height), title: parts.count > 3 ? parts[3] : "")
    }
  }

  /// Waits for a window of that size; of any size when it is nil.
  func window(of size: Dimensions? = nil) async throws -> Window {
    try await eventually("a window of \(size?.description ?? "any size")") {
      try windows().first { size == nil || $0.size == size }
    }
  }

  func resize(_ window: Window, to size: Dimensions) throws {
    _ = try act("resize", "\(window.id)", "\(size.width)", "\(size.height)")
  }

  /// As the button in a window's frame does.
  func close(_ window: Window) throws { _ = try act("close", "\(window.id)") }

  private func act(_ arguments: String...) throws -> String {
    let done = try run("env", ["DISPLAY=\(display)", "/usr/bin/python3", Self.script] + arguments)
    try #require(done.status == 0, "x11.py (apt-get install python3-xlib): \(done.errors)")
    return done.output
  }

  /// What is on the screen, taken by a program that is not ours.
  func screenshot() throws -> Screenshot {
    let folder = try TemporaryFolder()
    let file = folder.path + "/screen.rgb"
    let done = try run(
      "ffmpeg",
      [
        "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-video_size", "\(Self.size)", "-i", display,
        "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", file,
      ])
    try #require(done.status == 0, "ffmpeg (apt-get install ffmpeg): \(done.errors)")
    return Screenshot(bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))), size: Self.size)
  }
}

struct Colour: Hashable, Sendable, CustomStringConvertible {
  var red, green, blue: Int
  var description: String { "(\(red), \(green), \(blue))" }

  static let black = Colour(red: 0, green: 0, blue: 0)
  static let red = Colour(red: 255, green: 0, blue: 0)
  static let green = Colour(red: 0, green: 255, blue: 0)
  static let blue = Colour(red: 0, green: 0, blue: 255)
  static let white = Colour(red: 255, green: 255, blue: 255)

  /// Within what becomes of a colour on the way through other formats.
  func isNear(_ other: Colour) -> Bool {
    abs(red - other.red) < 24 && abs(green - other.green) < 24 && abs(blue - other.blue) < 24
  }
}

struct Screenshot: Sendable {
  let bytes: [UInt8]
  let size: Dimensions

  subscript(x: Int, y: Int) -> Colour {
    let start = (y * Int(size.width) + x) * 3
    return Colour(red: Int(bytes[start]), green: Int(bytes[start + 1]), blue: Int(bytes[start + 2]))
  }

  /// Mean distance of the samples from a picture that is expected at a place: 0…255.
  func distance(from expected: (_ x: Int, _ y: Int) -> Colour, in place: (x: Range<Int>, y: Range<Int>)) -> Double {
    var sum = 0
    for y in place.y {
      for x in place.x {
        let (one, other) = (self[x, y], expected(x - place.x.lowerBound, y - place.y.lowerBound))
        sum += abs(one.red - other.red) + abs(one.green - other.green) + abs(one.blue - other.blue)
      }
    }
    return Double(sum) / Double(place.x.count * place.y.count * 3)
  }
}

/// A picture of four colours, a quarter each: red and green above blue and white.
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
    let media = bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: time) }
    return VideoFrame(buffer: try #require(VideoFrameBuffer(media)), rotation: rotation, time: time)
  }
}
