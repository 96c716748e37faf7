import Foundation

/// Which certificates of authorities a person names in the variables of OpenSSL. As there, on Debian, those of
/// `SSL_CERT_FILE` are trusted beside this machine's own, and the folders of `SSL_CERT_DIR` stand in the place of these.
package struct NamedAuthorities: Hashable, Sendable {
  /// PEM; nil where none is named.
  package let file: String?
  /// Of files whose names `openssl rehash` made; empty for this machine's own.
  package let folders: [String]

  /// What this process was started with.
  package static let ofProcess = NamedAuthorities(environment: ProcessInfo.processInfo.environment)

  /// Variables that are empty name nothing.
  package init(environment: [String: String]) {
    file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    folders = environment["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
  }

  /// Whether these are this machine's own and no others, as images of containers name them: whoever trusts those of the
  /// machine by itself need not be told.
  package var areOfMachine: Bool {
    folders.allSatisfy { Self.resolve($0) == Self.folderOfMachine }
      && [file].compactMap(\.self).allSatisfy { Self.bundles.contains(Self.resolve($0)) }
  }

  /// Those that are named, as PEM, and the first reason why something is not among them.
  package func read() -> (pem: [UInt8], complaint: String?) {
    var (pem, complaint) = ([UInt8](), String?.none)
    for path in folders.flatMap(Self.hashedFiles) + [file].compactMap(\.self) {
      do {
        let content = try Data(contentsOf: URL(filePath: path))
        pem += content + [0x0a]
        if content.range(of: Self.beginning) == nil { complaint = complaint ?? "\(path): no certificate is in it" }
      } catch {
        complaint = complaint ?? "\(path): \(error.systemReason)"
      }
    }
    return (pem, complaint)
  }

  /// This machine's own as PEM, where they are trusted besides.
  package var others: [UInt8] { folders.isEmpty ? Self.ofMachine : [] }

  private static let beginning = Data("-----BEGIN CERTIFICATE-----".utf8)

  /// Where Debian has them, and others.
  private static let bundles = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
  ]
  private static let folderOfMachine = "/etc/ssl/certs"

  private static var ofMachine: [UInt8] {
    bundles.lazy.compactMap { try? Data(contentsOf: URL(filePath: $0)) }.first.map(Array.init) ?? []
  }

  /// Without links, and without what a person writes besides, such as a slash at its end.
  private static func resolve(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }

  /// Such as `5ad8a5d6.0`: OpenSSL looks at no others.
  private static func hashedFiles(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().filter { $0.wholeMatch(of: /[0-9a-f]{8}\.[0-9]+/) != nil }.map { "\(folder)/\($0)" }
  }
}
