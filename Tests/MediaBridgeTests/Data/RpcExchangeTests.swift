import BridgeTesting
import Foundation
import LiveKitProtocol
import Logging
import MediaCore
import Testing

@testable import MediaBridge

/// Calls of a session whose connection does not come about.
@Suite struct RpcExchangeTests {
  /// How long a message would wait for it.
  private static let timeout = Duration.seconds(60)

  private func run(_ body: (Room) async throws -> Void) async throws {
    let room = Room()
    room.localParticipant.info.withLock { $0.permissions.canPublishData = true }
    let session = RoomSession(room: room, options: RoomOptions(), connect: ConnectOptions(timeout: Self.timeout))
    room.localParticipant.session.withLock { $0 = session }
    defer { room.localParticipant.session.withLock { $0 = nil } }
    try await body(room)
  }

  private func error(of room: Room, limit: Double) async -> RpcError? {
    do {
      _ = try await room.localParticipant.performRpc(
        destinationIdentity: "bob", method: "m", payload: "", responseTimeout: limit, maxRoundTripLatency: limit)
    } catch { return error as? RpcError }
    return nil
  }

  /// The call is known from its beginning, and not only once there is a connection.
  @Test func aCallThatWaitsForTheConnectionEndsWithItsRecipient() async throws {
    try await run { room in
      let errors = Collector<RpcError?>()
      let call = Task { errors.add(await error(of: room, limit: 600)) }
      try await eventually("the end of the call") {
        room.messages.rpc.cut(from: "bob")
        return errors.count > 0
      }
      await call.value
      #expect(errors.values.map { $0?.code } == [RpcError.BuiltInError.recipientDisconnected.code])
    }
  }

  @Test func aCallThatWaitsForTheConnectionEndsInTime() async throws {
    try await run { room in
      let codes = [RpcError.BuiltInError.connectionTimeout, .sendFailed].map(\.code)
      let start = ContinuousClock.now
      let failure = try #require(await error(of: room, limit: 0.05))
      #expect(codes.contains(failure.code))
      #expect(ContinuousClock.now - start < Self.timeout)
    }
  }

  @Test func whoFloodsIsAnsweredAndRefusedOnlySoOften() async throws {
    try await run { room in
      func answer(_ caller: String) -> RpcExchange.Verdict {
        room.messages.rpc.answer(.init(), from: caller, by: room.localParticipant, Logger(label: "test"))
      }
      let verdicts = (0..<250).map { _ in answer("bob") }
      #expect(verdicts.prefix(100).allSatisfy { $0 == .answered })
      #expect(verdicts[100..<200].allSatisfy { $0 == .refused })
      #expect(verdicts.suffix(50).allSatisfy { $0 == .leftOut })
      #expect(answer("carol") == .answered)
      room.messages.rpc.cut(from: "bob")
      #expect(answer("bob") == .answered)
      room.messages.rpc.cut(from: nil)
    }
  }

  /// LiveKit's server calls in another name each time that its API is asked to, and none of them ever leaves.
  @Test func whoHasBeenAnsweredIsForgotten() async throws {
    let room = Room()
    let answer = { @Sendable () -> RpcExchange.Verdict in
      room.messages.rpc.answer(
        .init(), from: UUID().uuidString, by: room.localParticipant, Logger(label: "test"))
    }
    for _ in 0..<300 { #expect(answer() == .answered) }
    // Those who are over are forgotten with the next one.
    try await eventually("that none is left but the last one") {
      _ = answer()
      return room.messages.rpc.holders == 1
    }
  }
}
