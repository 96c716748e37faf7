import COpenSSL
import MediaCore
import NIOCore
import NIOEmbedded
import ParserExercises
import Testing

@testable import SignalTransport

/// Both ends of one connection, whose network is this test.
private struct Ends {
  let client = EmbeddedChannel()
  let server = EmbeddedChannel()

  /// - Parameters:
  ///   - host: that the client wants.
  ///   - names: of a certificate that the trusted CA signs; nil for its own.
  init(host: String = "localhost", names: String? = nil, upTo version: Int32 = TLS1_3_VERSION) throws {
    let certificates = try TestCertificates()
    defer { certificates.remove() }
    if let names { try certificates.leaf("server", for: names, subject: "/CN=localhost") }
    try SecureChannel(host: host, trusting: certificates.trust).addHandler(to: client)
    let server = certificates.server(names == nil ? "ca" : "server")
    try self.server.pipeline.syncOperations.addHandler(server.makeHandler(upTo: version))
    for channel in [self.server, client] {
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }
  }

  /// Carries what each has sent to the other one, by so many bytes at once, until there is no more.
  func exchange(by size: Int) throws {
    var isGoingOn = true
    while isGoingOn {
      let toServer = try Self.carry(from: client, to: server, by: size)
      isGoingOn = try Self.carry(from: server, to: client, by: size) || toServer
    }
  }

  private static func carry(from sender: EmbeddedChannel, to receiver: EmbeddedChannel, by size: Int) throws -> Bool {
    guard var bytes = try sender.readOutbound(as: ByteBuffer.self) else { return false }
    while let piece = bytes.readSlice(length: min(size, bytes.readableBytes)), piece.readableBytes > 0 {
      if receiver.isActive { try receiver.writeInbound(piece) }
    }
    return true
  }

  static func received(_ channel: EmbeddedChannel) throws -> ByteBuffer {
    var all = ByteBuffer()
    while var bytes = try channel.readInbound(as: ByteBuffer.self) { all.writeBuffer(&bytes) }
    return all
  }
}

@Suite("TLS between two channels")
struct TLSHandlerTests {
  private static func bytes(_ count: Int) -> ByteBuffer {
    ByteBuffer(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) })
  }

  @Test(arguments: [(1, 5_000), (1_400, 300_000), (1 << 20, 300_000)])
  func whatIsWrittenBeforeTheHandshakeAndAfterItArrives(size: Int, count: Int) throws {
    let ends = try Ends()
    let written = ends.client.writeAndFlush(Self.bytes(count))
    try ends.exchange(by: size)
    try written.wait()
    #expect(try Ends.received(ends.server) == Self.bytes(count))
    for part in 0..<10 { ends.server.writeAndFlush(Self.bytes(part * 100), promise: nil) }
    try ends.exchange(by: size)
    #expect(try Ends.received(ends.client).readableBytes == 4_500)
  }

  @Test func anOlderServerIsUnderstood() throws {
    let ends = try Ends(upTo: TLS1_2_VERSION)
    ends.client.writeAndFlush(Self.bytes(10), promise: nil)
    try ends.exchange(by: 100)
    #expect(try Ends.received(ends.server) == Self.bytes(10))
    #expect(throws: TLSFailure.self) { try Ends(upTo: TLS1_1_VERSION).exchange(by: 100) }
  }

  @Test(arguments: [
    ("localhost", "DNS:localhost"), ("localhost.", "DNS:localhost"), ("a.example.org", "DNS:*.example.org"),
    ("127.0.0.1", "IP:127.0.0.1"), ("::1", "IP:::1"),
  ]) func aServerIsKnownByItsNames(host: String, names: String) throws {
    let ends = try Ends(host: host, names: names)
    try ends.exchange(by: 1_000)
    #expect(ends.client.isActive && ends.server.isActive)
  }

  @Test(arguments: [
    ("localhost", "IP:127.0.0.1"), ("127.0.0.1", "DNS:127.0.0.1"), ("::1", "IP:127.0.0.1"),
    ("fe80::1%lo", "IP:fe80::1"),
    ("b.a.example.org", "DNS:*.example.org"), ("example.org", "DNS:*.example.org"), ("ab.org", "DNS:a*.org"),
    ("localhost", "email:localhost@example.org"), ("LOCALHOST.evil", "DNS:localhost"),
  ]) func anotherServerIsRefused(host: String, names: String) throws {
    let ends = try Ends(host: host, names: names)
    let error = #expect(throws: TLSFailure.self) { try ends.exchange(by: 1_000) }
    #expect(error?.reason(host: host).contains("not for \(host)") == true, "\(String(describing: error))")
    #expect(try Ends.received(ends.server).readableBytes == 0 && !ends.client.isActive)
  }

  @Test(arguments: ["", "."]) func withoutANameThereIsNoConnection(host: String) throws {
    #expect(throws: TLSFailure.self) { try Ends(host: host) }
  }

  @Test func whoClosesIsUnderstood() throws {
    let ends = try Ends()
    try ends.exchange(by: 1_000)
    ends.client.writeAndFlush(Self.bytes(10), promise: nil)
    try ends.client.close().wait()
    try ends.exchange(by: 1_000)
    #expect(try Ends.received(ends.server) == Self.bytes(10), "what was written before the end is lost")
    #expect(!ends.server.isActive)
  }

  @Test func whatWaitsForAHandshakeThatNeverComesFails() throws {
    let ends = try Ends()
    let written = ends.client.writeAndFlush(Self.bytes(10))
    try ends.client.close().wait()
    #expect(throws: ChannelError.self) { try written.wait() }
  }

  @Test func whoIsToldOfAWriteMayClose() throws {
    let ends = try Ends()
    try ends.exchange(by: 1_000)
    let writes = (0..<5).map { _ in ends.client.write(Self.bytes(10)) }
    writes[1].whenComplete { _ in ends.client.close(promise: nil) }
    ends.client.flush()
    for write in writes { try write.wait() }
    try ends.exchange(by: 1_000)
    #expect(try Ends.received(ends.server).readableBytes == 50 && !ends.server.isActive)
  }

  @Test func whoIsToldOfAWriteMayWrite() throws {
    let ends = try Ends()
    try ends.exchange(by: 1_000)
    ends.client.write(ByteBuffer(string: "a")).whenComplete { _ in
      ends.client.writeAndFlush(ByteBuffer(string: "c"), promise: nil)
    }
    ends.client.writeAndFlush(ByteBuffer(string: "b"), promise: nil)
    try ends.exchange(by: 1_000)
    #expect(try Ends.received(ends.server) == ByteBuffer(string: "abc"))
  }

  @Test(arguments: 0..<40) func whatIsNoTLSEndsTheConnection(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let ends = try Ends()
    if seed % 2 == 0 { try ends.exchange(by: 1_000) }
    // Half of them begin as a record does.
    let head: [UInt8] = seed % 4 < 2 ? [22 + UInt8(seed % 3), 3, 3, 0, 40] : []
    let garbage = ByteBuffer(bytes: head + (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) })
    #expect(throws: TLSFailure.self) {
      try ends.client.writeInbound(garbage)
      try ends.client.throwIfErrorCaught()
    }
    #expect(!ends.client.isActive)
  }
}
