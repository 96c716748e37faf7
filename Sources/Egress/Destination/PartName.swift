import Foundation
import MediaBridge
package import PipelineTemplates

extension Destination {
  /// Where another pipeline of the same destination writes beside an earlier one: the next free of `name-2.mp4`,
  /// `name-3.mp4` and so on, which is none that was written and moved away meanwhile. An address stays the same.
  /// - Parameters:
  ///   - parts: how many there are.
  ///   - isTaken: whether something else keeps a part from being there.
  package func nextPart(after parts: Int, isTaken: (Destination) -> Bool = { _ in false }) -> Destination {
    guard isFile else { return self }
    var number = parts + 1
    while FileClaim.isTaken(part(number).location) || isTaken(part(number)) { number += 1 }
    return part(number)
  }

  /// Where it is written once more, beside what was written before.
  package func take(after takes: Int) -> Destination { takes > 0 ? nextPart(after: takes) : self }

  /// The same where the disk that is looked at may not answer.
  /// - Throws: that it does not.
  func checkedTake(after takes: Int) throws(LiveKitError) -> Destination {
    guard isFile, takes > 0 else { return self }
    return try FileClaim.asking(location) { take(after: takes) }
  }

  /// Where it is written where names of others may be the same: the whole name, or where somebody has that, or has had
  /// it, the next free one.
  /// - Parameters:
  ///   - takes: how often it was written before.
  ///   - reserve: takes a name; false where it is somebody's.
  func own(after takes: Int, reserve: (Destination) -> Bool) -> ReservedName {
    guard isFile else { return ReservedName(self) }
    if takes == 0, reserve(self) { return ReservedName(self) }
    return ReservedName(nextPart(after: max(takes, 1)) { !reserve($0) })
  }

  /// The same for a file or a folder that nobody claims.
  package func own() -> ReservedName { own(after: 0) { FileClaim.reserve($0.location) } }

  /// The path without what the file's name ends in.
  var stem: String { (location as NSString).deletingPathExtension }

  /// The file `name-NUMBER.mp4`.
  func part(_ number: Int) -> Destination {
    let path = location as NSString
    let (stem, ending) = (path.lastPathComponent as NSString, path.pathExtension)
    let name = "\(stem.deletingPathExtension)-\(number)" + (ending.isEmpty ? "" : ".\(ending)")
    var part = self
    part.location = (path.deletingLastPathComponent as NSString).appendingPathComponent(name)
    return part
  }
}
