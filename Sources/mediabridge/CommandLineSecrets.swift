import Foundation
import PipelineTemplates

/// Overwrites secrets among the arguments where other users of the machine see them: ps and /proc/PID/cmdline.
enum CommandLineSecrets {
  private static let options = ["--token", "--api-secret", "--ice-credential"]

  /// The arguments have to be read before, since they are not the same afterwards.
  static func hide() {
    guard let memory = argumentMemory() else { return }
    var isSecret = false
    for argument in memory.split(separator: 0, omittingEmptySubsequences: false) {
      let text = String(decoding: argument, as: UTF8.self)
      let option = options.first { text.hasPrefix($0 + "=") }
      if isSecret { blank(memory, argument.startIndex..<argument.endIndex) }
      if let option { blank(memory, (argument.startIndex + option.utf8.count + 1)..<argument.endIndex) }
      isSecret = options.contains(text)
      for secret in Destination(argument: text).secrets { blank(memory, every: secret, of: argument) }
    }
  }

  /// Stream keys and passwords in the addresses of destinations.
  private static func blank(
    _ memory: UnsafeMutableRawBufferPointer, every secret: String,
    of argument: Slice<UnsafeMutableRawBufferPointer>
  ) {
    for range in argument.ranges(of: Array(secret.utf8)) { blank(memory, range) }
  }

  private static func blank(_ memory: UnsafeMutableRawBufferPointer, _ range: Range<Int>) {
    for index in range { memory[index] = UInt8(ascii: "*") }
  }

  /// Where the kernel put them (proc(5): arg_start and arg_end, fields 48 and 49 of stat).
  private static func argumentMemory() -> UnsafeMutableRawBufferPointer? {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      // The second field, the program's name in parentheses, may hold spaces.
      let fields = stat.split(separator: ")").last?.split(separator: " "), fields.count > 46,
      let start = UInt(fields[45]), let end = UInt(fields[46]), end > start,
      let base = UnsafeMutableRawPointer(bitPattern: start)
    else { return nil }
    return UnsafeMutableRawBufferPointer(start: base, count: Int(end - start))
  }
}
