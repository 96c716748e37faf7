import Foundation

/// The JSON around a candidate in a trickle request (RTCIceCandidateInit).
public enum CandidateInit {
  private struct Fields: Codable {
    var candidate: String
    var sdpMid: String?
    var sdpMLineIndex: Int?
  }

  /// The candidate as an attribute's value, `candidate:…`: clients write it with or without, and some with the `a=`
  /// too. Nil for what is not such JSON.
  public static func parse(_ json: String) -> String? {
    guard let text = (try? JSONDecoder().decode(Fields.self, from: Data(json.utf8)))?.candidate else { return nil }
    let value = text.hasPrefix("a=") ? String(text.dropFirst(2)) : text
    return value.hasPrefix("candidate:") ? value : "candidate:" + value
  }

  /// - Parameter candidate: an attribute's value, `candidate:…`.
  public static func text(_ candidate: String) -> String {
    let fields = Fields(candidate: candidate, sdpMid: "", sdpMLineIndex: 0)
    return (try? JSONEncoder().encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}
