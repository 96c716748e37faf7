import Foundation
import SDP

/// The descriptions under Tests/Corpus/sdp. `bad-*` hold what once deserved a look; the others are written after real peers.
enum Sample {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Corpus/sdp")

  static func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appendingPathComponent(name + ".sdp")), as: UTF8.self)
  }

  static func session(_ name: String) throws -> SessionDescription { try SessionDescription(parsing: text(name)) }

  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".sdp") }
      .map { String($0.dropLast(4)) }.sorted()
  }

  static let good = ["livekit-subscriber-offer", "libwebrtc-publisher-offer", "chrome-answer"]
  static let transport = LocalTransport(
    iceUfrag: "abcd", icePwd: "0123456789abcdefghijkl", fingerprint: Fingerprint(algorithm: "SHA-256", value: "aa:bb"))
  static let origin = SessionDescription.Origin(sessionID: 7, sessionVersion: 2)
}
