import ArgumentParser
import Egress
import MediaBridge
import PipelineTemplates

/// What the names of destinations are filled with, and what cannot be.
extension RawArguments {
  /// Of whom a destination is.
  enum Ownership {
    /// Of one participant, or with `--each` of each.
    case ofOne
    /// Of all who are there.
    case ofAll
    /// Of all, and opened before the room is joined.
    case composite
  }

  /// Before the room is joined.
  var knownNames: FileNameValues.Values {
    var names: FileNameValues.Values = [:]
    names[.roomName] = access.roomName
    names[.publisherIdentity] = tracks.only
    return names
  }

  /// Whether the name of the destination is only known with a track.
  var waitsForName: Bool {
    get throws(LiveKitError) {
      try target.placeholders.contains { ![.time, .utc].contains($0) && knownNames[$0] == nil }
    }
  }

  /// Refuses what will never be known.
  func validateNames(_ ownership: Ownership) throws {
    let placeholders: [FileNameTemplate.Placeholder]
    do { placeholders = try target.placeholders } catch { throw ValidationError(error.message) }
    let isOfMany = ownership != .ofOne || each && framed && !target.hasOneForEach(isFramed: true)
    for placeholder in placeholders where knownNames[placeholder] == nil {
      let name = "{\(placeholder.rawValue)}"
      if isOfMany, placeholder == .publisherIdentity || placeholder.isOfOneTrack {
        throw ValidationError(
          "\(shown): \(name) is of one participant, and this has all who are there; leave it out")
      }
      if ownership == .composite, [.roomID, .roomName].contains(placeholder) {
        throw ValidationError(
          "\(shown): \(name) is not known before the room is joined, when this is opened; leave it out")
      }
    }
  }
}
