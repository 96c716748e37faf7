import MediaCore

/// What a candidate attribute says (RFC 8839, 5.1).
enum CandidateText {
  static func component(of candidate: String) -> UInt32? {
    candidate.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { UInt32($0) }
  }

  /// `udp 127.0.0.1:50000 host` or `tcp passive 127.0.0.1:7881 host` (RFC 6544, 4.5).
  static func endpoint(of candidate: String) -> String {
    let fields = candidate.split(separator: " ")
    guard fields.count >= 8 else { return candidate }
    let kind = fields.firstIndex(of: "tcptype").flatMap { fields.indices.contains($0 + 1) ? fields[$0 + 1] : nil }
    return "\(fields[2].lowercased())\(kind.map { " \($0)" } ?? "") \(fields[4].asHost):\(fields[5]) \(fields[7])"
  }
}
