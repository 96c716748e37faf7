import BridgeTesting
import MediaCore
import Testing

@testable import PeerTransport

@Suite("Associations")
struct SCTPTransportTests {
  /// Else messages would fail for as long as media flows.
  @Test func theEndOfAnAssociationIsTold() async throws {
    let (one, other) = (Side(isDTLSClient: true), Side(isDTLSClient: false))
    one.begin(with: other)
    other.begin(with: one)
    one.with { $0?.open(DCEP.Open(isOrdered: true, maxRetransmits: nil, label: "messages")) }
    try await eventually { one.events.withLock { $0.contains("opened") } }
    #expect(other.events.withLock { $0 } == ["opened"])
    one.with { $0?.close() }
    try await eventually { other.events.withLock { $0.contains("ended") } }
    #expect(other.events.withLock { $0 } == ["opened", "ended"] && one.events.withLock { $0 } == ["opened"])
    await one.end()
    await other.end()
  }
}

/// One end of an association, on a loop of its own.
private final class Side: Sendable {
  let events = Locked<[String]>([])
  private let loop: TransportLoop
  private let transport: LoopBound<SCTPTransport?>
  private let isDTLSClient: Bool

  init(isDTLSClient: Bool) {
    loop = TransportLoop(name: "association")
    transport = LoopBound(nil, on: loop)
    self.isDTLSClient = isDTLSClient
  }

  func begin(with other: Side) {
    loop.run { [self] in
      transport.value = SCTPTransport(
        loop: loop, isDTLSClient: isDTLSClient,
        send: { packet in other.with { peer in packet.withUnsafeBytes { peer?.receive($0) } } },
        emit: { [events] event in
          let name =
            switch event {
            case .opened: "opened"
            case .message: "message"
            case .failed: "failed"
            case .ended: "ended"
            }
          events.withLock { $0.append(name) }
        })
    }
  }

  func with(_ work: @escaping @Sendable (SCTPTransport?) -> Void) { loop.post { [self] in work(transport.value) } }

  func end() async {
    with { $0?.close() }
    await loop.call { [transport] in transport.value = nil }
    await loop.stop()
  }
}
