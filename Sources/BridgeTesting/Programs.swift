import Foundation

/// Runs a program; one that is not installed ends with status 127 and a message.
public func run(
  _ program: String, _ arguments: [String]
) throws -> (status: Int32, output: String, errors: String) {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [program] + arguments
  let (output, errors) = (Pipe(), Pipe())
  process.standardOutput = output
  process.standardError = errors
  try process.run()
  let text = output.fileHandleForReading.readDataToEndOfFile()
  let complaints = errors.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (
    process.terminationStatus, String(decoding: text, as: UTF8.self), String(decoding: complaints, as: UTF8.self)
  )
}

/// A folder that is removed with the object.
public final class TemporaryFolder: Sendable {
  public let path: String
  public init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("mediabridge-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }
  /// Holds one pipeline template, such as `capture/odd`.
  public convenience init(template: String, _ text: String) throws {
    try self.init()
    let file = URL(fileURLWithPath: "\(path)/\(template).pipeline")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
