import Foundation
import PipelineTemplates

extension Destination {
  /// Where another pipeline of the same destination writes beside an earlier one: the next free of `name-2.mp4`,
  /// `name-3.mp4` and so on. An address stays the same.
  /// - Parameter parts: how many there are.
  func nextPart(after parts: Int) -> Destination {
    guard isFile else { return self }
    let url = URL(fileURLWithPath: location)
    let (stem, ending) = (url.deletingPathExtension().lastPathComponent, url.pathExtension)
    let folder = (location as NSString).deletingLastPathComponent as NSString
    var number = parts + 1
    var next = self
    repeat {
      let name = "\(stem)-\(number)" + (ending.isEmpty ? "" : ".\(ending)")
      next.location = folder.appendingPathComponent(name)
      number += 1
    } while FileManager.default.fileExists(atPath: next.location)
    return next
  }
}
