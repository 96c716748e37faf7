import ArgumentParser
import Egress
import Foundation
import PipelineTemplates

/// A job that records.
struct RunRecording {
  var arguments: RecordCommand
  var destinationValues: [[String: String]]

  /// What is asked for, with what is set for single destinations.
  /// - Parameter used: how often this process has written a location already: what is there is not written over.
  func prepared(besides used: [String: Int] = [:]) throws -> RecordCommand.Prepared {
    var prepared = try arguments.prepared()
    for (index, values) in destinationValues.enumerated() {
      prepared.options.destinations[index].values.merge(values) { $1 }
      prepared.options.destinations[index] = prepared.options.destinations[index].advanced(past: used)
    }
    return prepared
  }

  /// What each destination is fed.
  /// - Throws: what is wrong with it that can be known without a room.
  func feeds() throws -> [OutputFeeds] {
    let prepared = try prepared()
    if let name = prepared.receiveValues.keys.min() {
      throw Self.isOfRoom(name)
    }
    return try arguments.feeds(prepared)
  }
}

extension RawArguments {
  /// Files that are written, and folders; what goes elsewhere, such as into a device, has no parts.
  var files: [String] {
    var files = [info].compactMap { $0 }
    if case .path(let path) = target { files.append(path) }
    return files.filter { !$0.hasPrefix("/dev/") && PathSink.keeps($0) }
  }

  /// Has it go beside what was written before.
  /// - Parameter used: how often this process has written a location already.
  mutating func advance(past used: [String: Int]) {
    func next(_ path: String) -> String {
      guard files.contains(path), !path.holdsTime, let takes = used[path] else { return path }
      let isFolder = PathSink.namesFolder(path)
      let place = Destination(location: path.hasSuffix("/") ? String(path.dropLast()) : path)
      return place.take(after: takes).location + (isFolder ? "/" : "")
    }
    (destination, info) = (next(destination), info.map(next))
  }
}

extension OutputDestination {
  /// Beside what was written before.
  /// - Parameter used: how often this process has written a location already.
  func advanced(past used: [String: Int]) -> Self {
    var advanced = self
    if !location.holdsTime { advanced.takesBefore = used[location] ?? 0 }
    return advanced
  }
}

extension String {
  /// The same for all ways to write the path of a file.
  var standardPath: String { URL(fileURLWithPath: self).standardizedFileURL.path }

  /// Whether a file's name is another one each time by itself.
  fileprivate var holdsTime: Bool { ["{time}", "{utc}"].contains(where: contains) }
}
