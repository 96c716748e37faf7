import Egress
import Foundation
import MediaBridge
import MediaCore

/// A folder of numbered images. Each has its name once it is whole.
final class ImageFolder: RawSink {
  let name: String
  /// Without the slash behind it.
  private let folder: String
  private let suffix: String

  /// - Parameter suffix: of the files, such as `png`.
  /// - Throws: where it cannot be made, or holds such images already.
  init(_ path: String, suffix: String, replaces: Bool) throws(LiveKitError) {
    (name, self.suffix) = (path, suffix)
    folder = path.lastIndex { $0 != "/" }.map { String(path[...$0]) } ?? ""
    do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
      throw LiveKitError(.output, "\(path): the folder cannot be made: \(error.systemReason)")
    }
    guard access(path, W_OK) == 0 else { throw RawDescriptor.failure(ofFile: path) }
    if !replaces, access(file(0), F_OK) == 0 {
      throw LiveKitError(
        .invalidParameter, "\(path) holds images already; give another folder, or --overwrite to replace them")
    }
  }

  private func file(_ number: Int) -> String { "\(folder)/\(String(format: "%06d", number)).\(suffix)" }

  func begin(header: [UInt8]) {}

  func write(_ piece: RawPiece, number: Int) throws(LiveKitError) {
    let (path, unfinished) = (file(number), "\(file(number)).part")
    let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw RawDescriptor.failure(ofFile: path) }
    do throws(LiveKitError) {
      defer { close(descriptor) }
      try RawDescriptor.write(piece, to: descriptor, of: path)
    } catch {
      unlink(unfinished)
      throw error
    }
    guard rename(unfinished, path) == 0 else { throw RawDescriptor.failure(ofFile: path) }
  }

  func end() {}
}
