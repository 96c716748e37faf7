import BridgeTesting
import Foundation
import LiveKitProtocol
import Logging
import Testing

@testable import MediaBridge

/// Methods of one room that another one calls.
@Suite struct RpcTests {
  /// The error of a call of bob's method.
  private func error(
    of alice: Room, _ method: String, _ payload: String = "", responseTimeout: Double = 10, latency: Double = 7,
    recipient: String = "bob"
  ) async throws -> RpcError? {
    do {
      _ = try await alice.localParticipant.performRpc(
        destinationIdentity: recipient, method: method, payload: payload, responseTimeout: responseTimeout,
        maxRoundTripLatency: latency)
      return nil
    } catch let error as RpcError { return error }
  }

  /// Never answers by itself.
  private func registerEndless(_ room: Room) async throws -> Collector<String> {
    let called = Collector<String>()
    try await room.registerRpcMethod("endless") { call in
      called.add(call.callerIdentity)
      try await Task.sleep(for: .seconds(600))
      return ""
    }
    return called
  }

  @Test func aCallIsAnswered() async throws {
    try await withTwoRooms { alice, bob in
      try await bob.registerRpcMethod("greet") { "\($0.payload), \($0.callerIdentity), within \($0.responseTimeout) s" }
      let answer = try await alice.localParticipant.performRpc(
        destinationIdentity: "bob", method: "greet", payload: "hello", responseTimeout: 9)
      #expect(answer == "hello, alice, within 9.0 s")
    }
  }

  @Test func whatFailsIsAnErrorOfTheCaller() async throws {
    try await withTwoRooms { alice, bob in
      let own = RpcError(code: 42, message: "not now", data: "é")
      try await bob.registerRpcMethod("own") { _ in throw own }
      try await bob.registerRpcMethod("foreign") { _ in throw CocoaError(.fileNoSuchFile) }
      #expect(try await error(of: alice, "own") == own)
      #expect(try await error(of: alice, "foreign")?.code == RpcError.BuiltInError.applicationError.code)
      #expect(try await error(of: alice, "nothing")?.code == RpcError.BuiltInError.unsupportedMethod.code)
    }
  }

  /// As one whose client is older, or whose server does not say what its client reads.
  @Test func packetsHaveALimit() async throws {
    try await withTwoRooms { alice, bob in
      // After that the server says nothing new of him.
      try await eventually("bob") { alice.remoteParticipants["bob"]?.state == .active }
      let recipient = try #require(alice.remoteParticipants["bob"])
      recipient.info.withLock { $0.clientProtocol = 0 }
      try await bob.registerRpcMethod("repeat") { String(repeating: "x", count: Int($0.payload) ?? 0) }
      let fitting = try await alice.localParticipant.performRpc(
        destinationIdentity: "bob", method: "repeat", payload: "15360")
      #expect(fitting.utf8.count == 15_360)
      #expect(try await error(of: alice, "repeat", "15361")?.code == RpcError.BuiltInError.responsePayloadTooLarge.code)
      let tooLong = String(repeating: "x", count: 15_361)
      #expect(
        try await error(of: alice, "repeat", tooLong)?.code == RpcError.BuiltInError.requestPayloadTooLarge.code)
    }
  }

  /// The caller hears nothing of what it was.
  @Test func whatAMethodThrowsIsInTheLog() async throws {
    try await withTwoRooms { alice, bob in
      try await bob.registerRpcMethod("foreign") { _ in throw CocoaError(.fileNoSuchFile) }
      try await bob.registerRpcMethod("own") { _ in throw RpcError(code: 42, message: "not now") }
      let lines = Collector<String>()
      let logger = Logger(keeping: lines)
      for method in ["own", "foreign"] {
        _ = bob.messages.rpc.answer(request(method, method), from: "alice", by: bob.localParticipant, logger)
      }
      try await eventually("the line") { lines.count > 0 }
      #expect(lines.values.map { $0.contains("handler of a method") && $0.contains("foreign") } == [true])
    }
  }

  @Test func whoWaitsInVainIsTold() async throws {
    try await withTwoRooms { alice, bob in
      _ = try await registerEndless(bob)
      let late = try await error(of: alice, "endless", responseTimeout: 2, latency: 1.9)
      #expect(late?.code == RpcError.BuiltInError.responseTimeout.code)
      let nobody = try await error(of: alice, "endless", latency: 0.1, recipient: "carol")
      #expect(nobody?.code == RpcError.BuiltInError.connectionTimeout.code)
    }
  }

  @Test func aCallEndsWithItsRecipientAndWithItsTask() async throws {
    try await withTwoRooms { alice, bob in
      let called = try await registerEndless(bob)
      let cancelled = Task { try await error(of: alice, "endless", responseTimeout: 600) }
      try await eventually("the call") { called.count == 1 }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      let left = Task { try await error(of: alice, "endless", responseTimeout: 600) }
      try await eventually("the call") { called.count == 2 }
      await bob.disconnect()
      #expect(try await left.value?.code == RpcError.BuiltInError.recipientDisconnected.code)
    }
  }

  @Test func anAnswerToWhoHasLeftIsCancelled() async throws {
    try await withTwoRooms { alice, bob in
      let (called, ended) = (Collector<String>(), Collector<String>())
      try await bob.registerRpcMethod("endless") { call in
        called.add(call.payload)
        do { try await Task.sleep(for: .seconds(600)) } catch {
          ended.add(call.payload)
          throw error
        }
        return ""
      }
      let left = Task { try await error(of: alice, "endless", "by leaving", responseTimeout: 600, latency: 600) }
      try await eventually("the call") { called.values == ["by leaving"] }
      await alice.disconnect()
      try await eventually("its end") { ended.values == ["by leaving"] }
      _ = try await left.value
    }
  }

  private func request(_ method: String, _ id: String) -> Livekit_RpcRequest {
    var request = Livekit_RpcRequest()
    (request.id, request.method, request.version, request.responseTimeoutMs) = (id, method, 1, 100)
    return request
  }

  /// LiveKit's clients say 1 s where they wait for 5, and 8 where they wait for 15.
  @Test func anAnswerMayTakeLongerThanItsCallerSays() async throws {
    try await withTwoRooms { alice, bob in
      let isWhole = Collector<Bool>()
      try await bob.registerRpcMethod("slow") { _ in
        do { try await Task.sleep(for: .seconds(1)) } catch {
          isWhole.add(false)
          throw error
        }
        isWhole.add(true)
        return ""
      }
      try await alice.localParticipant.send(.rpcRequest(request("slow", "1")), to: ["bob"])
      try await eventually("the end of the method") { isWhole.values == [true] }
    }
  }

  /// The method ends only because it is cancelled, and the call that waits is another one of the same id.
  @Test func whatIsCancelledAndFinishesAllTheSameIsSent() async throws {
    try await withTwoRooms { alice, bob in
      let called = Collector<String>()
      try await bob.registerRpcMethod("endless") { call in
        called.add(call.requestId)
        try await Task.sleep(for: .seconds(600))
        return ""
      }
      try await bob.registerRpcMethod("late") { _ in
        try? await Task.sleep(for: .seconds(600))
        return "late"
      }
      let answer = Task {
        try await alice.localParticipant.performRpc(
          destinationIdentity: "bob", method: "endless", payload: "", responseTimeout: 60, maxRoundTripLatency: 60)
      }
      try await eventually("the call") { called.count == 1 }
      let verdict = bob.messages.rpc.answer(
        request("late", called.values[0]), from: "alice", by: bob.localParticipant, Logger(label: "test"), slack: .zero)
      #expect(verdict == .answered)
      #expect(try await answer.value == "late")
    }
  }

  @Test func aCallBeyondThoseThatAreAnsweredFailsAtOnce() async throws {
    try await withTwoRooms { alice, bob in
      let called = try await registerEndless(bob)
      let calls = (0..<100).map { _ in
        Task { try await error(of: alice, "endless", responseTimeout: 600, latency: 600) }
      }
      try await eventually("all calls") { called.count == 100 }
      let refused = try await error(of: alice, "endless", responseTimeout: 600, latency: 600)
      #expect(refused?.code == RpcError.BuiltInError.applicationError.code && called.count == 100)
      await bob.disconnect()
      for call in calls { #expect(try await call.value?.code == RpcError.BuiltInError.recipientDisconnected.code) }
    }
  }

  /// It would end with the session that is lost, and be answered in the next one all the same.
  @Test func aCallWaitsUntilTheConnectionIsBack() async throws {
    try await withTwoRoomsAndServer { synthetic, alice, bob in
      let called = Collector<String>()
      try await bob.registerRpcMethod("greet") { call in
        called.add(call.payload)
        return "hello"
      }
      let losses = Collector<Bool>(alice.events) { if case .reconnecting = $0 { true } else { nil } }
      synthetic.renewSession(of: "alice")
      try await eventually("the loss") { losses.count == 1 }
      let answer = try await alice.localParticipant.performRpc(
        destinationIdentity: "bob", method: "greet", payload: "now", maxRoundTripLatency: 20)
      #expect(answer == "hello" && called.values == ["now"])
    }
  }

  /// There nobody waits for it.
  @Test func anAnswerIsNotSentInTheNextSession() async throws {
    try await withTwoRoomsAndServer { synthetic, alice, bob in
      let (called, gate) = (Collector<String>(), Outcome<Void, Never>())
      try await bob.registerRpcMethod("late") { call in
        called.add(call.requestId)
        _ = await gate.result()
        return "late"
      }
      let lines = Collector<String>()
      let logger = Logger(keeping: lines, .debug) { event, _ in "\(event.message)" }
      _ = bob.messages.rpc.answer(request("late", "1"), from: "alice", by: bob.localParticipant, logger)
      try await eventually("the call") { called.count == 1 }
      let returns = Collector<Bool>(bob.events) { if case .reconnected = $0 { true } else { nil } }
      synthetic.renewSession(of: "bob")
      try await eventually("the connection") { returns.count == 1 }
      gate.settle(.success(()))
      try await eventually("that it is left out") { lines.values == ["a call is not answered"] }
    }
  }

  @Test func aMethodHasOneHandler() async throws {
    let room = Room()
    try await room.registerRpcMethod("m") { _ in "" }
    await #expect(throws: LiveKitError.self) { try await room.registerRpcMethod("m") { _ in "" } }
    await room.unregisterRpcMethod("m")
    #expect(await !room.isRpcMethodRegistered("m"))
    await #expect(throws: LiveKitError.self) {
      try await room.localParticipant.performRpc(destinationIdentity: "bob", method: "m", payload: "")
    }
  }
}
