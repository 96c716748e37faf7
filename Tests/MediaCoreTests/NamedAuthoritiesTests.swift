import Foundation
import MediaCore
import Testing

@Suite struct NamedAuthoritiesTests {
  private let certificate = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"

  @Test func whatIsEmptyNamesNothing() {
    let nothing = NamedAuthorities(environment: ["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""])
    #expect(nothing == NamedAuthorities(environment: [:]) && nothing.file == nil && nothing.folders.isEmpty)
    let both = NamedAuthorities(environment: ["SSL_CERT_FILE": "/a", "SSL_CERT_DIR": "/b:/c"])
    #expect(both.file == "/a" && both.folders == ["/b", "/c"])
  }

  @Test(arguments: [
    [:], ["SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt"], ["SSL_CERT_DIR": "/etc/ssl/certs/"],
    ["SSL_CERT_FILE": "/etc/ssl/../ssl/certs/ca-certificates.crt", "SSL_CERT_DIR": "/etc/ssl/certs:/etc/ssl/certs"],
  ])
  func whatThisMachineTrustsAnywayNeedNotBeTold(environment: [String: String]) {
    #expect(NamedAuthorities(environment: environment).areOfMachine)
    for other in [
      ["SSL_CERT_FILE": "/etc/ssl/certs/0123abcd.0"], ["SSL_CERT_FILE": "/nowhere/ca.pem"],
      ["SSL_CERT_DIR": "/etc/ssl/certs:/b"],
    ] {
      #expect(!NamedAuthorities(environment: environment.merging(other) { $1 }).areOfMachine)
    }
  }

  @Test func foldersStandInThePlaceOfThisMachinesOwn() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "mediabridge-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // OpenSSL looks at names that are hashes, and at no others.
    try Data(certificate.utf8).write(to: folder.appending(path: "0123abcd.0"))
    try Data("another".utf8).write(to: folder.appending(path: "own.pem"))
    let hashed = NamedAuthorities(environment: ["SSL_CERT_DIR": folder.path])
    #expect(hashed.read() == (Array("\(certificate)\n".utf8), nil) && hashed.others.isEmpty)
    let file = NamedAuthorities(environment: ["SSL_CERT_FILE": folder.appending(path: "0123abcd.0").path])
    #expect(file.read() == (Array("\(certificate)\n".utf8), nil) && !file.others.isEmpty)
  }

  @Test func whatCannotBeReadIsSaid() {
    let missing = NamedAuthorities(environment: ["SSL_CERT_FILE": "/nowhere/ca.pem"]).read()
    #expect(missing.complaint == "/nowhere/ca.pem: No such file or directory")
    #expect(
      NamedAuthorities(environment: ["SSL_CERT_FILE": "/etc/hosts"]).read().complaint?.contains("no cert") == true)
  }
}
