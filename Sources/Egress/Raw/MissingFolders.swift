import Foundation
import Glibc
package import MediaBridge

/// The folders that a file is to lie in, made where they are missing.
package enum MissingFolders {
  /// - Returns: those that were not there, the innermost first.
  /// - Throws: one of them cannot be made; then none of them is.
  package static func make(for file: String) throws(LiveKitError) -> [String] {
    let missing = above(file).missing
    for (index, folder) in missing.enumerated().reversed() where mkdir(folder, 0o777) != 0 && errno != EEXIST {
      let code = errno
      remove(Array(missing[(index + 1)...]))
      throw LiveKitError(
        .output,
        "\(file): the folder \(folder) cannot be made (\(String(cString: strerror(code)))); choose another file or folder"
      )
    }
    return missing
  }

  /// - Returns: those that are not there, the innermost first, and the innermost one that is.
  static func above(_ file: String) -> (missing: [String], there: String) {
    var missing: [String] = []
    var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: folder.path) {
      missing.append(folder.path)
      let parent = folder.deletingLastPathComponent()
      // That of one that ends in `..` is the same.
      guard parent.path.utf8.count < folder.path.utf8.count else { break }
      folder = parent
    }
    return (missing, folder.path)
  }

  /// - Parameter folders: the innermost first. Those in which something lies stay.
  package static func remove(_ folders: [String]) { for folder in folders { rmdir(folder) } }
}
