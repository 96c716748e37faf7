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
  private let certificates: TestCertificates

  init() throws {
    certificates = try TestCertificates()
    defer { certificates.remove() }
    try SecureChannel(host: "localhost", authorities: certificates.trust).addHandler(to: client)
    try server.pipeline.syncOperations.addHandler(certificates.server("ca").makeHandler())
    for channel in [server, client] { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }
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
