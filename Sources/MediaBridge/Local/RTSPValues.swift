import Foundation

/// What the capture template for RTSP is told. GStreamer makes the element that reads only once the pipeline runs, and
/// refuses nothing of it before. Pure.
enum RTSPValues {
  /// The name of the capture template.
  static let template = "rtsp"
  /// GStreamer's words for what RTP comes by.
  private static let protocols: Set<Substring> = ["tcp", "udp", "udp-mcast"]

  /// Such as `rtsp` and `rtsps`, in small letters; nil for any other address, and for a path.
  static func scheme(of location: String) -> String? {
    guard let end = location.range(of: "://")?.lowerBound else { return nil }
    let scheme = location[..<end].lowercased()
    return scheme.hasPrefix("rtsp") ? scheme : nil
  }

  /// What an address says by its scheme, for the template's variables: with `rtspu://` everything comes over UDP.
  static func values(of location: String) -> [String: String] {
    ["rtspu", "rtspsu"].contains(scheme(of: location)) ? ["protocols": "udp+udp-mcast"] : [:]
  }

  /// - Throws: for what GStreamer would pass over.
  static func check(_ values: [String: String]) throws(LiveKitError) {
    if let latency = values["latency"], UInt32(latency) == nil {
      throw refusal(of: latency, for: "latency", "give milliseconds, such as 200")
    }
    guard let words = values["protocols"] else { return }
    guard words.split(separator: "+", omittingEmptySubsequences: false).allSatisfy(protocols.contains) else {
      throw refusal(of: words, for: "protocols", "give tcp, udp, udp-mcast, or several with + between them")
    }
  }

  private static func refusal(of value: String, for name: String, _ advice: String) -> LiveKitError {
    LiveKitError(.invalidParameter, "'\(value)' is no value for `\(name)`: \(advice)")
  }
}
