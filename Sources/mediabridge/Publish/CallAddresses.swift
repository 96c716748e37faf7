import DevServer
import MediaCore
import PipelineTemplates

/// Where a source that waits for a caller is called: at each address of this machine where it listens at all of them.
struct CallAddresses: Sendable {
  /// Such as `srt://192.0.2.7:9000`.
  let all: [String]
  private let hasPassphrase: Bool

  /// A machine with containers has many, of which people know their own.
  private static let most = 3

  /// - Returns: nil for an address that names no port.
  init?(_ location: String) {
    let destination = Destination(location: location)
    let values = destination.values
    guard let scheme = destination.scheme, let port = values["port"].flatMap({ Int($0) }) else { return nil }
    let listened = MediaAddresses.of(values["host"] ?? "0.0.0.0")
    // From this machine those of the others do, too.
    let distant = listened.filter { $0 != "::1" && !$0.hasPrefix("127.") }
    all = (distant.isEmpty ? listened : distant).prefix(Self.most).map { "\(scheme)://\($0.asHost):\(port)" }
    hasPassphrase = destination.srtValue(of: "passphrase") != nil
  }

  /// For people.
  var shown: String { all.joined(separator: " or ") + (hasPassphrase ? ", with the passphrase" : "") }
}
