import Egress
import Foundation
import MediaBridge
import PipelineTemplates

/// Where the media of a command goes.
enum RawTarget: Sendable {
  case standardOutput
  case socket(String)
  /// The path of the socket beside it.
  case sharedMemory(String)
  /// An address of ws or wss.
  case webSocket(String)
  case command(String)
  /// A file, a named pipe or a folder, as it was written.
  case path(String)

  init(destination: String, command: String?) {
    if let command {
      self = .command(command)
    } else if Self.standardOutputs.contains(destination) {
      self = .standardOutput
    } else {
      self = Self.named(destination)
    }
  }

  /// Whoever opened one of the others would write between what is told.
  static let standardOutputs: Set = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

  private static func named(_ destination: String) -> RawTarget {
    if destination.hasPrefix("unix:") { return .socket(String(destination.dropFirst(5))) }
    if ["ws://", "wss://"].contains(where: destination.lowercased().hasPrefix) { return .webSocket(destination) }
    return destination.hasPrefix("shm:") ? .sharedMemory(String(destination.dropFirst(4))) : .path(destination)
  }

  var isSharedMemory: Bool { if case .sharedMemory = self { true } else { false } }
  var isWebSocket: Bool { if case .webSocket = self { true } else { false } }
  var isCommand: Bool { if case .command = self { true } else { false } }

  /// Nil for what has none.
  private var location: String? {
    switch self {
    case .standardOutput, .command: nil
    case .socket(let name), .sharedMemory(let name), .webSocket(let name), .path(let name): name
    }
  }

  /// What fills its name, each once.
  var placeholders: [FileNameTemplate.Placeholder] {
    get throws(LiveKitError) {
      guard let location else { return [] }
      do { return try FileNameTemplate(location).placeholders } catch {
        throw LiveKitError(.invalidParameter, "\(Self.shown(location)): \(error)")
      }
    }
  }

  /// Whether there is one for each participant, where each is to have one.
  /// - Parameter isFramed: whether all can share one; a command is begun for each else.
  func hasOneForEach(isFramed: Bool) -> Bool {
    if isCommand { return !isFramed }
    return ["{publisher_identity}", "{track_id}"].contains { location?.contains($0) ?? false }
  }

  /// With the placeholders filled.
  func named(_ values: FileNameValues.Values) throws(LiveKitError) -> RawTarget {
    switch self {
    case .standardOutput, .command: self
    case .socket(let path): .socket(try Self.fill(path, values))
    case .sharedMemory(let path): .sharedMemory(try Self.fill(path, values))
    case .webSocket(let url): .webSocket(Self.fill(url: url, values))
    case .path(let path): .path(try Self.fill(path, values))
    }
  }

  /// Names become parts of its path or query, whatever is in them.
  private static func fill(url: String, _ values: FileNameValues.Values) -> String {
    values.reduce(into: url) { url, value in
      let text = value.value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      url = url.replacing("{\(value.key.rawValue)}", with: text)
    }
  }

  private static func fill(_ path: String, _ values: FileNameValues.Values) throws(LiveKitError) -> String {
    guard path.contains("{") else { return path }
    // A folder is written with a slash behind its name, which is no part of it.
    let isFolder = path.hasSuffix("/")
    do {
      let template = try FileNameTemplate(isFolder ? String(path.dropLast()) : path)
      return try template.fill(values) + (isFolder ? "/" : "")
    } catch { throw LiveKitError(.invalidParameter, "\(path): \(error)") }
  }
}

extension RawTarget {
  /// What a destination is called for people: an address, whether media goes there or not, without what may be secret.
  static func shown(_ destination: String) -> String {
    named(destination).isWebSocket ? WebSocketSink.shown(destination) : Destination(location: destination).shown
  }
}
