package import Foundation
package import MediaBridge

/// What a command prints that is to be said in the room. Pure.
///
/// A line is a JSON object. Where it has `text`, that is the message; else the line itself is. `topic` says whom it concerns,
/// `to` who gets it, by identity, and `"reliable": false` has it sent once.
package struct ReplyMessage: Equatable, Sendable {
  package var payload: Data
  package var options: DataPublishOptions

  /// Why a line is none.
  package struct Refusal: Error, Equatable {
    package var reason: String
  }

  /// What LiveKit recommends for one message.
  package static let most = 15_000

  package init(line: some Collection<UInt8>) throws(Refusal) {
    try Self.check(line)
    let data = Data(line)
    guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
      throw Refusal(reason: "it is no JSON object")
    }
    guard let text = try Self.value("text", of: object, as: String.self, "a string") else {
      self = ReplyMessage(data, try Self.options(object))
      return
    }
    self = ReplyMessage(Data(text.utf8), try Self.options(object))
  }

  /// - Throws: it is too long.
  static func check(_ line: some Collection<UInt8>) throws(Refusal) {
    guard line.count <= most else { throw Refusal(reason: "it has more than \(most) bytes") }
  }

  private init(_ payload: Data, _ options: DataPublishOptions) { (self.payload, self.options) = (payload, options) }

  private static func options(_ object: [String: Any]) throws(Refusal) -> DataPublishOptions {
    DataPublishOptions(
      destinationIdentities: try value("to", of: object, as: [String].self, "a list of strings") ?? [],
      topic: try value("topic", of: object, as: String.self, "a string"),
      reliable: try value("reliable", of: object, as: Bool.self, "true or false") ?? true)
  }

  private static func value<Value>(
    _ name: String, of object: [String: Any], as type: Value.Type, _ wish: String
  ) throws(Refusal) -> Value? {
    guard let any = object[name], !(any is NSNull) else { return nil }
    guard let value = any as? Value else { throw Refusal(reason: "\"\(name)\" is to be \(wish)") }
    return value
  }
}
