import BridgeTesting
import Foundation
import MediaCore
import Testing

@testable import MediaBridge

/// Calls of a session whose connection does not come about.
@Suite struct RpcExchangeTests {
  private func run(_ body: (Room) async throws -> Void) async throws {
    let room = Room()
    room.localParticipant.info.withLock { $0.permissions.canPublishData = true }
    let session = RoomSession(room: room, options: RoomOptions(), connect: ConnectOptions())
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
      let failure = try #require(await error(of: room, limit: 0.05))
      #expect(codes.contains(failure.code))
    }
  }
}
