import Egress
import Foundation
import MediaBridge
import MediaCore

/// A folder of numbered images. Each has its name once it is whole.
final class ImageFolder: RawSink {
  let name: String
  let keepsAll = true
  /// Without the slash behind it.
  private let folder: String
  private let suffix: String
  private let replaces: Bool
  /// Made for it, the innermost first.
  private let newFolders: [String]

  /// - Parameter suffix: of the files, such as `png`.
  /// - Throws: where it cannot be made, or holds such images already.
  init(_ path: String, suffix: String, replaces: Bool) throws(LiveKitError) {
    (name, self.suffix, self.replaces) = (path, suffix, replaces)
    folder = path.lastIndex { $0 != "/" }.map { String(path[...$0]) } ?? ""
    newFolders = try MissingFolders.make(for: "\(folder)/0.\(suffix)")
    // Also where it is no folder.
    guard access("\(folder)/.", W_OK) == 0 else { throw RawDescriptor.failure(ofFile: path) }
    if !replaces, !images.isEmpty {
      throw LiveKitError(
        .output, "\(path) holds images already; give another folder, or --overwrite to replace them")
    }
  }

  private func file(_ number: Int) -> String { "\(folder)/\(String(format: "%06d", number)).\(suffix)" }

  /// Those that lie there, and what is left of one that was never whole.
  private var images: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: name)) ?? []).filter(isImage)
  }

  private func isImage(_ file: String) -> Bool {
    let number = file.prefix { $0.isASCII && $0.isNumber }
    return number.count >= 6 && [".\(suffix)", ".\(suffix).part"].contains(String(file.dropFirst(number.count)))
  }

  /// Those of another run go now that something has come: else they would follow on from the last one of this run.
  func begin(header: [UInt8]) throws(LiveKitError) {
    for file in replaces ? images : [] where unlink("\(folder)/\(file)") != 0 {
      throw RawDescriptor.failure(ofFile: "\(folder)/\(file)")
    }
  }

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

  /// Where nothing came, nothing is left.
  func end() { MissingFolders.remove(newFolders) }
}
