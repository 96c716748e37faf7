import DevServer
import MediaCore

/// Where a source that waits for a caller is called: at each address of this machine where it listens at all of them.
struct CallAddresses: Sendable {
  /// Such as `srt://192.0.2.7:9000`.
  let all: [String]
  private let hasPassphrase: Bool

  /// A machine with containers has many, of which people know their own.
  private static let most = 3

  /// - Returns: nil for an address that names no port.
  init?(_ location: String) {
    guard let mark = location.firstRange(of: "://") else { return nil }
    let server = location[mark.upperBound...].prefix { !"/?".contains($0) }
    guard let colon = server.lastIndex(of: ":"), let port = Int(server[colon...].dropFirst()) else { return nil }
    let host: String = server[..<colon].filter { !"[]".contains($0) }
    let listened = MediaAddresses.of(host.isEmpty ? "0.0.0.0" : host)
    // From this machine those of the others do, too.
    let distant = listened.filter { $0 != "::1" && !$0.hasPrefix("127.") }
    all = (distant.isEmpty ? listened : distant).prefix(Self.most).map { address in
      "\(location[..<mark.lowerBound])://\(address.asHost):\(port)"
    }
    hasPassphrase = location.contains("passphrase=")
  }

  /// For people.
  var shown: String { all.joined(separator: " or ") + (hasPassphrase ? ", with the passphrase" : "") }
}
