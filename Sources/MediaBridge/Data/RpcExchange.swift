import Foundation
import LiveKitProtocol
import Logging
import MediaCore

/// Calls of methods, both ways. The methods stay from session to session, a call ends with its own.
final class RpcExchange: Sendable {
  /// Bytes that a call or an answer may have.
  static let payloadLimit = 15_360
  private static let version: UInt32 = 1
  /// As many calls of one participant are answered at a time; those beyond are left out.
  private static let callLimit = 100

  private struct Call {
    let recipient: String
    let outcome: Outcome<String, RpcError>
    var isConfirmed = false
  }

  private struct State {
    var methods: [String: RpcHandler] = [:]
    var calls: [String: Call] = [:]
    /// How many are being answered, by who calls.
    var answering: [String: Int] = [:]
  }

  private let state = Locked(State())

  // MARK: Methods

  /// - Returns: false where there is one already.
  func register(_ method: String, _ handler: @escaping RpcHandler) -> Bool {
    state.withLock { $0.methods.insert(handler, for: method) }
  }

  func unregister(_ method: String) { state.withLock { $0.methods[method] = nil } }
  func isRegistered(_ method: String) -> Bool { state.withLock { $0.methods[method] != nil } }

  // MARK: Being called

  func answer(
    _ request: Livekit_RpcRequest, from caller: String, by participant: LocalParticipant, _ logger: Logger
  ) {
    let isTaken = state.withLock { state in
      guard state.answering[caller, default: 0] < Self.callLimit else { return false }
      state.answering[caller, default: 0] += 1
      return true
    }
    guard isTaken else { return logger.warning("a call is left out: too many", metadata: ["from": "\(caller)"]) }
    Task {
      var ack = Livekit_RpcAck()
      ack.requestID = request.id
      do {
        try await participant.send(.rpcAck(ack), to: [caller])
        try await participant.send(.rpcResponse(await response(to: request, from: caller)), to: [caller])
      } catch {
        logger.debug("a call is not answered", metadata: ["from": "\(caller)", "reason": "\(error)"])
      }
      state.withLock { state in
        let rest = state.answering[caller, default: 1] - 1
        state.answering[caller] = rest > 0 ? rest : nil
      }
    }
  }

  private func response(to request: Livekit_RpcRequest, from caller: String) async -> Livekit_RpcResponse {
    var response = Livekit_RpcResponse()
    response.requestID = request.id
    do throws(RpcError) {
      response.payload = try await result(of: request, from: caller)
    } catch {
      response.error = error.packet
    }
    return response
  }

  private func result(of request: Livekit_RpcRequest, from caller: String) async throws(RpcError) -> String {
    guard request.version == Self.version else { throw .builtIn(.unsupportedVersion) }
    guard let handler = state.withLock({ $0.methods[request.method] }) else { throw .builtIn(.unsupportedMethod) }
    let data = RpcInvocationData(
      requestId: request.id, callerIdentity: caller, payload: request.payload,
      responseTimeout: Double(request.responseTimeoutMs) / 1000)
    let payload: String
    do { payload = try await handler(data) } catch {
      throw error as? RpcError ?? .builtIn(.applicationError)
    }
    guard payload.utf8.count <= Self.payloadLimit else { throw .builtIn(.responsePayloadTooLarge) }
    return payload
  }

  // MARK: Calling

  func call(
    _ request: Livekit_RpcRequest, of recipient: String, confirmedWithin ackLimit: Duration, within limit: Duration,
    by participant: LocalParticipant
  ) async throws -> String {
    guard request.payload.utf8.count <= Self.payloadLimit else { throw RpcError.builtIn(.requestPayloadTooLarge) }
    let sendLimit = min(ackLimit, limit)
    let session = try participant.sendingSession()
    let carrier = try await Self.carrier(in: session, within: sendLimit)
    var request = request
    (request.id, request.version) = (UUID().uuidString, Self.version)
    request.responseTimeoutMs = UInt32(clamping: (limit / .milliseconds(1)).rounded().clampedInt)
    let outcome = Outcome<String, RpcError>()
    let id = request.id
    state.withLock { $0.calls[id] = Call(recipient: recipient, outcome: outcome) }
    defer { state.withLock { $0.calls[id] = nil } }
    let timer = Task { await watch(id, outcome, ackLimit, limit) }
    defer { timer.cancel() }
    let packet = Livekit_DataPacket(.rpcRequest(request), to: [recipient])
    return try await withTaskCancellationHandler {
      await Self.send(packet, by: carrier, within: sendLimit, unless: outcome)
      let result = await outcome.result()
      try Task.checkCancellation()
      return try result.get()
    } onCancel: {
      outcome.settle(.failure(.builtIn(.recipientDisconnected)))
    }
  }

  /// A call ends with its session, so that one which is made while the connection is being brought back waits for that.
  private static func carrier(in session: RoomSession, within limit: Duration) async throws -> MessageCarrier {
    do { return try await session.carrier(until: .now + limit) } catch {
      try Task.checkCancellation()
      throw RpcError.builtIn(.sendFailed, data: "\(error)")
    }
  }

  /// - Parameter outcome: what ends before it is sent is not sent any more.
  private static func send(
    _ packet: Livekit_DataPacket, by carrier: MessageCarrier, within limit: Duration,
    unless outcome: Outcome<String, RpcError>
  ) async {
    guard outcome.current == nil else { return }
    do { try await carrier.transport.send(packet, limit: .now + limit) } catch {
      outcome.settle(.failure(.builtIn(.sendFailed, data: "\(error)")))
    }
  }

  private func watch(
    _ id: String, _ outcome: Outcome<String, RpcError>, _ ackLimit: Duration, _ limit: Duration
  ) async {
    try? await Task.sleep(for: min(ackLimit, limit))
    let isConfirmed = state.withLock { $0.calls[id]?.isConfirmed ?? true }
    if !isConfirmed { outcome.settle(.failure(.builtIn(.connectionTimeout))) }
    if limit > ackLimit { try? await Task.sleep(for: limit - ackLimit) }
    outcome.settle(.failure(.builtIn(.responseTimeout)))
  }

  /// The recipient has the call. Only the recipient's word counts.
  func confirmed(_ ack: Livekit_RpcAck, by sender: String) {
    state.withLock { state in
      if state.calls[ack.requestID]?.recipient == sender { state.calls[ack.requestID]?.isConfirmed = true }
    }
  }

  func answered(_ response: Livekit_RpcResponse, by sender: String) {
    guard let call = state.withLock({ $0.calls[response.requestID] }), call.recipient == sender else { return }
    if case .error(let error) = response.value {
      call.outcome.settle(.failure(RpcError(error)))
    } else {
      call.outcome.settle(.success(response.payload))
    }
  }

  /// - Parameter recipient: who has left; nil for the end of the session.
  func cut(from recipient: String?) {
    let calls = state.withLock { state in
      state.calls.values.filter { recipient == nil || $0.recipient == recipient }.map(\.outcome)
    }
    for outcome in calls { outcome.settle(.failure(.builtIn(.recipientDisconnected))) }
  }
}

extension Double {
  /// Within what a duration or a field holds.
  fileprivate var clampedInt: Int { Int(Swift.max(0, Swift.min(self, 4e9))) }
}
