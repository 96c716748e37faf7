package import Foundation
package import MediaBridge

/// What is shown on a mixed room while it runs, such as what is being said.
///
/// Any text can be shown: it is wrapped, and one of more than some lines ends in "…"; characters without a shape, and those
/// that turn the direction of the text, are left out.
public struct CompositeLabel: Equatable, Sendable {
  /// Empty shows nothing any more.
  public var text: String
  /// On whose tiles it is, by identity; nil for the whole frame.
  public var participant: String?
  /// After which it goes; nil leaves it until there is another one in its place.
  public var duration: Duration?

  /// - Parameter text: empty shows nothing any more; the rest as the properties say.
  public init(_ text: String, participant: String? = nil, duration: Duration? = nil) {
    (self.text, self.participant, self.duration) = (text, participant, duration)
  }

  /// What is said in a room: `{"text": …, "participant": optional, "duration": optional seconds}`, or the text alone.
  /// - Throws: what is wrong with it.
  package init(message: Data) throws(LiveKitError) {
    if let keys = Self.keys(message) {
      try self.init(keys)
    } else {
      guard let text = String(validating: message, as: UTF8.self) else { throw Self.refusal("it is no UTF-8") }
      self.init(text)
    }
  }

  /// What a command prints: the same as an object on a line.
  /// - Throws: what is wrong with it.
  package init(line: some Collection<UInt8>) throws(LiveKitError) {
    guard let keys = Self.keys(Data(line)) else { throw Self.refusal("it is no JSON object") }
    try self.init(keys)
  }

  /// - Parameter keys: of a JSON object, of which others than those of a label are ignored.
  /// - Throws: what is wrong with it.
  package init(_ keys: [String: Any]) throws(LiveKitError) {
    guard let text = try Self.text("text", of: keys) else {
      throw Self.refusal("\"text\" is missing; an empty one shows nothing any more")
    }
    let participant = try Self.text("participant", of: keys)
    self.init(
      text, participant: participant?.isEmpty == true ? nil : participant,
      duration: try Self.duration(keys["duration"]))
  }

  private static func keys(_ data: Data) -> [String: Any]? {
    (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
  }

  private static func text(_ name: String, of keys: [String: Any]) throws(LiveKitError) -> String? {
    guard let any = keys[name], !(any is NSNull) else { return nil }
    guard let text = any as? String else { throw refusal("\"\(name)\" is to be a string") }
    return text
  }

  /// A day, in seconds.
  private static let longest = 86_400.0

  private static func duration(_ any: Any?) throws(LiveKitError) -> Duration? {
    guard let any, !(any is NSNull) else { return nil }
    // `true` is a number, too, of the type "c", and no duration.
    guard let number = any as? NSNumber, !(any is Bool && number.objCType.pointee == 0x63),
      number.doubleValue > 0, number.doubleValue <= longest
    else { throw refusal("\"duration\" is to be a number of seconds, up to a day") }
    return .seconds(number.doubleValue)
  }

  private static func refusal(_ reason: String) -> LiveKitError { LiveKitError(.invalidParameter, reason) }
}
