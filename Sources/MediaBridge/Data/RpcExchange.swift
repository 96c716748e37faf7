import Foundation
import LiveKitProtocol
import Logging
import MediaCore

/// Calls of methods, both ways. The methods stay from session to session, a call ends with its own.
final class RpcExchange: Sendable {
  /// Bytes that a call or an answer may have.
  static let payloadLimit = 15_360
  private static let version: UInt32 = 1
  /// As many calls of one participant are answered at a time, and as many beyond refused; the rest is left out.
  private static let callLimit = 100
  /// Of a caller that does not say how long it waits, as LiveKit's clients do.
  private static let usualLimit = Duration.seconds(15)
  /// A caller waits for longer than it says: LiveKit's clients take 7 s off for the way there and back.
  static let slack = Duration.seconds(15)

  private struct Call {
    let recipient: String
    let outcome: Outcome<String, RpcError>
    /// Whether a connection has it, with which it ends.
    var isUnderWay = false
    var isConfirmed = false
  }

  /// What becomes of a call.
  enum Verdict {
    case answered
    /// There are too many, and its caller is told that.
    case refused
    /// There are too many even to say so.
    case leftOut
  }

  /// A call that is being answered, or refused.
  private struct Answer {
    let verdict: Verdict
    let work: Task<Void, Never>
    /// Ends it when its caller waits no longer.
    let timer: Task<Void, Never>

    func cancel() {
      work.cancel()
      timer.cancel()
    }
  }

  private struct State {
    var methods: [String: RpcHandler] = [:]
    var calls: [String: Call] = [:]
    /// What is being answered, by who calls and the calls' own numbers.
    var answers: [String: [Int: Answer]] = [:]
    var count = 0

    func verdict(on caller: String) -> Verdict {
      let answers = answers[caller, default: [:]].values
      let verdicts: [Verdict] = [.answered, .refused]
      return verdicts.first { verdict in answers.count { $0.verdict == verdict } < RpcExchange.callLimit } ?? .leftOut
    }
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

  /// - Parameter slack: how much longer than it says its caller waits at most.
  func answer(
    _ request: Livekit_RpcRequest, from caller: String, by participant: LocalParticipant, _ logger: Logger,
    slack: Duration = RpcExchange.slack
  ) -> Verdict {
    let limit = Duration.milliseconds(request.responseTimeoutMs)
    return state.withLock { state in
      let verdict = state.verdict(on: caller)
      guard verdict != .leftOut else { return verdict }
      state.count += 1
      let number = state.count
      let work = Task {
        switch verdict {
        case .answered: await reply(to: request, from: caller, by: participant, logger)
        case .refused: await refuse(request, from: caller, by: participant)
        case .leftOut: break
        }
        end(number, of: caller)
      }
      let timer = Task {
        try? await Task.sleep(for: (limit > .zero ? limit : Self.usualLimit) + slack)
        if !Task.isCancelled { end(number, of: caller) }
      }
      state.answers[caller, default: [:]][number] = Answer(verdict: verdict, work: work, timer: timer)
      return verdict
    }
  }

  /// What a handler does goes on where it does not heed that it is cancelled, and is counted no longer.
  private func end(_ number: Int, of caller: String) {
    let answer = state.withLock { state in
      let answer = state.answers[caller]?.removeValue(forKey: number)
      if state.answers[caller]?.isEmpty == true { state.answers[caller] = nil }
      return answer
    }
    answer?.cancel()
  }

  private func reply(
    to request: Livekit_RpcRequest, from caller: String, by participant: LocalParticipant, _ logger: Logger
  ) async {
    do {
      try await participant.send(.rpcAck(Self.ack(of: request)), to: [caller])
      // What is finished is sent, in time or not.
      try await participant.send(.rpcResponse(await response(to: request, from: caller, logger)), to: [caller])
    } catch {
      logger.debug("a call is not answered", metadata: ["from": "\(caller)", "reason": "\(error)"])
    }
  }

  /// Where that cannot be sent the caller learns of it by waiting.
  private func refuse(
    _ request: Livekit_RpcRequest, from caller: String, by participant: LocalParticipant
  ) async {
    var response = Livekit_RpcResponse()
    response.requestID = request.id
    response.error = RpcError.builtIn(.applicationError, data: "too many calls are being answered").packet
    _ = try? await participant.send(.rpcAck(Self.ack(of: request)), to: [caller])
    _ = try? await participant.send(.rpcResponse(response), to: [caller])
  }

  private static func ack(of request: Livekit_RpcRequest) -> Livekit_RpcAck {
    var ack = Livekit_RpcAck()
    ack.requestID = request.id
    return ack
  }

  private func response(
    to request: Livekit_RpcRequest, from caller: String, _ logger: Logger
  ) async -> Livekit_RpcResponse {
    var response = Livekit_RpcResponse()
    response.requestID = request.id
    do throws(RpcError) {
      response.payload = try await result(of: request, from: caller, logger)
    } catch {
      response.error = error.packet
    }
    return response
  }

  private func result(
    of request: Livekit_RpcRequest, from caller: String, _ logger: Logger
  ) async throws(RpcError) -> String {
    guard request.version == Self.version else { throw .builtIn(.unsupportedVersion) }
    guard let handler = state.withLock({ $0.methods[request.method] }) else { throw .builtIn(.unsupportedMethod) }
    let data = RpcInvocationData(
      requestId: request.id, callerIdentity: caller, payload: request.payload,
      responseTimeout: Double(request.responseTimeoutMs) / 1000)
    let payload: String
    do { payload = try await handler(data) } catch {
      if let own = error as? RpcError { throw own }
      // The caller hears nothing of what it was, and one that was cancelled is no failure.
      if !Task.isCancelled {
        logger.warning(
          "the handler of a method has failed", metadata: ["method": "\(request.method)", "reason": "\(error)"])
      }
      throw .builtIn(.applicationError)
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
    let session = try participant.sendingSession()
    var request = request
    (request.id, request.version) = (UUID().uuidString, Self.version)
    request.responseTimeoutMs = UInt32(clamping: (limit / .milliseconds(1)).rounded().clampedInt)
    let (id, outcome) = (request.id, Outcome<String, RpcError>())
    state.withLock { $0.calls[id] = Call(recipient: recipient, outcome: outcome) }
    let timer = Task { await watch(id, outcome, ackLimit, limit) }
    let packet = Livekit_DataPacket(.rpcRequest(request), to: [recipient])
    let sending = Task { [deadline = MediaTime.now + min(ackLimit, limit)] in
      await send(packet, id, in: session, until: deadline, unless: outcome)
    }
    defer {
      for task in [timer, sending] { task.cancel() }
      state.withLock { $0.calls[id] = nil }
    }
    return try await withTaskCancellationHandler {
      let result = await outcome.result()
      try Task.checkCancellation()
      return try result.get()
    } onCancel: {
      outcome.settle(.failure(.builtIn(.recipientDisconnected)))
    }
  }

  /// A call ends with its session, so that one which is made while the connection is being brought back waits for that.
  /// - Parameter outcome: what ends before it is sent is not sent any more.
  private func send(
    _ packet: Livekit_DataPacket, _ id: String, in session: RoomSession, until limit: MediaTime,
    unless outcome: Outcome<String, RpcError>
  ) async {
    do {
      let carrier = try await session.carrier(until: limit)
      state.withLock { $0.calls[id]?.isUnderWay = true }
      guard outcome.current == nil else { return }
      try await carrier.transport.send(packet, limit: limit)
    } catch {
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

  /// Ends what is under way. A call that waits for the connection to come back goes on, but for one of who has left.
  /// - Parameter other: who has left; nil for the end of the session.
  func cut(from other: String?) {
    let (calls, answers) = state.withLock { state in
      let calls = state.calls.values.filter { other == nil ? $0.isUnderWay : $0.recipient == other }
      let answers = state.answers.filter { other == nil || $0.key == other }
      for caller in answers.keys { state.answers[caller] = nil }
      return (calls.map(\.outcome), answers.values.flatMap { Array($0.values) })
    }
    for outcome in calls { outcome.settle(.failure(.builtIn(.recipientDisconnected))) }
    for answer in answers { answer.cancel() }
  }
}

extension Double {
  /// Within what a duration or a field holds.
  fileprivate var clampedInt: Int { Int(Swift.max(0, Swift.min(self, 4e9))) }
}
