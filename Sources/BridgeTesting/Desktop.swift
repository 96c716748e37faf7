import Foundation
public import MediaBridge

/// An X server without a screen, on which windows of the process open while a test runs.
///
/// `DISPLAY` belongs to the whole process, so the tests with a desktop run one after the other.
///
/// `@unchecked Sendable`: the server's process is started before anybody else has this, and ended with the
/// last reference.
public final class Desktop: @unchecked Sendable {
  public static let size = Dimensions(width: 800, height: 600)
  private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Tests/EndToEnd/x11.py").path
  private let display: String
  private let server: Process

  public init() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    let output = Pipe()
    process.arguments = [Self.script, "serve", "\(Self.size)"]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let number = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard Int(number) != nil else { throw NoDesktop("Xvfb does not start: apt-get install xvfb python3-xlib") }
    display = ":\(number)"
    server = process
    setenv("DISPLAY", display, 1)
  }

  deinit {
    // Xlib ends a process whose server goes away, and a window that is closed is not yet a connection that is.
    for _ in 0..<500 where clients > 0 { usleep(10_000) }
    // Another one may be there by now.
    if getenv("DISPLAY").map({ String(cString: $0) }) == display { unsetenv("DISPLAY") }
    server.terminate()
    server.waitUntilExit()
  }

  /// Connections to the server: state 03 in /proc/net/unix, where the server's ends bear the socket's name.
  public var clients: Int {
    let sockets = (try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8)) ?? ""
    return sockets.split(separator: "\n").filter { line in
      let fields = line.split(separator: " ")
      return fields.count == 8 && fields[5] == "03" && fields[7].hasSuffix("/.X11-unix/X\(display.dropFirst())")
    }.count
  }

  public struct Window: Hashable, Sendable {
    public let id: Int
    public let size: Dimensions
    public let title: String
  }

  /// Those that are seen.
  public func windows() throws -> [Window] {
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
  public func window(of size: Dimensions? = nil) async throws -> Window {
    try await eventually("a window of \(size?.description ?? "any size")") {
      try windows().first { size == nil || $0.size == size }
    }
  }

  public func resize(_ window: Window, to size: Dimensions) throws {
    _ = try act("resize", "\(window.id)", "\(size.width)", "\(size.height)")
  }

  /// As the button in a window's frame does.
  public func close(_ window: Window) throws { _ = try act("close", "\(window.id)") }

  private func act(_ arguments: String...) throws -> String {
    let done = try run("env", ["DISPLAY=\(display)", "/usr/bin/python3", Self.script] + arguments)
    guard done.status == 0 else { throw NoDesktop("x11.py (apt-get install python3-xlib): \(done.errors)") }
    return done.output
  }

  /// What is on the screen, taken by a program that is not ours.
  public func screenshot() throws -> Screenshot {
    let folder = try TemporaryFolder()
    let file = folder.path + "/screen.rgb"
    let done = try run(
      "ffmpeg",
      [
        "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-video_size", "\(Self.size)", "-i", display,
        "-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", file,
      ])
    guard done.status == 0 else { throw NoDesktop("ffmpeg (apt-get install ffmpeg): \(done.errors)") }
    return Screenshot(bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: file))), size: Self.size)
  }
}

/// What keeps a test from having a desktop, and what to do about it.
public struct NoDesktop: Error, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
