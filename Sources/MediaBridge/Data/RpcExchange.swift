import Foundation
import LiveKitProtocol
import Logging
import MediaCore

/// Calls of methods, both ways. The methods stay from session to session, a call ends with its own.
final class RpcExchange: Sendable {
  /// Bytes that a call or an answer may have in a packet.
  static let payloadLimit = 15_360
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
    /// Reads the answer, where that is a stream.
    var reading: Task<Void, Never>?
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
    /// Of payloads that came as streams.
    var held = UnreadTotals()

    func verdict(on caller: String) -> Verdict {
      let answers = answers[caller, default: [:]].values
      let verdicts: [Verdict] = [.answered, .refused]
      return verdicts.first { verdict in answers.count { $0.verdict == verdict } < RpcExchange.callLimit } ?? .leftOut
    }
  }

  private let state = Locked(State())

  /// By how many others payloads are held.
  var holders: Int { state.withLock { $0.held.count } }

  // MARK: Methods

  /// - Returns: false where there is one already.
  func register(_ method: String, _ handler: @escaping RpcHandler) -> Bool {
    state.withLock { $0.methods.insert(handler, for: method) }
  }

  func unregister(_ method: String) { state.withLock { $0.methods[method] = nil } }
  func isRegistered(_ method: String) -> Bool { state.withLock { $0.methods[method] != nil } }

  // MARK: Being called

  /// - Parameters:
  ///   - stream: what the payload comes as; nil where the request has it.
  ///   - slack: how much longer than it says its caller waits at most.
  func answer(
    _ request: Livekit_RpcRequest, payload stream: TextStreamReader? = nil, from caller: String,
    by participant: LocalParticipant, _ logger: Logger, slack: Duration = RpcExchange.slack
  ) -> Verdict {
    let limit = Duration.milliseconds(request.responseTimeoutMs)
    return state.withLock { state in
      let verdict = state.verdict(on: caller)
      guard verdict != .leftOut else { return verdict }
      state.count += 1
      let number = state.count
      let call = IncomingCall(request: request, stream: stream, caller: caller, held: state.held.unread(of: caller))
      let work = Task {
        switch verdict {
        case .answered: await reply(to: call, by: participant, logger)
        case .refused: await refuse(call, by: participant)
        case .leftOut: break
        }
        end(number, of: caller)
      }
      let timer = endLater(number, of: caller, after: (limit > .zero ? limit : Self.usualLimit) + slack)
      state.answers[caller, default: [:]][number] = Answer(verdict: verdict, work: work, timer: timer)
      return verdict
    }
  }

  private func endLater(_ number: Int, of caller: String, after time: Duration) -> Task<Void, Never> {
    Task {
      try? await Task.sleep(for: time)
      if !Task.isCancelled { end(number, of: caller) }
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

  private func reply(to call: IncomingCall, by participant: LocalParticipant, _ logger: Logger) async {
    do {
      let carrier = try await participant.send(.rpcAck(call.ack), to: [call.caller])
      let result = await result(of: call, logger)
      // Who leaves has cut it short, and the caller is told that they have left.
      try await participant.sendingSession().check(carrier)
      // What is finished is sent, in time or not: a stream whose task is cancelled would be given up. Its session's
      // connection alone takes it: in another one nobody waits for it.
      try await Task { try await send(result, to: call, on: carrier) }.value
    } catch {
      logger.debug("a call is not answered", metadata: ["from": "\(call.caller)", "reason": "\(error)"])
    }
  }

  private func send(
    _ result: Result<String, RpcError>, to call: IncomingCall, on carrier: MessageCarrier
  ) async throws {
    if call.stream != nil, case .success(let payload) = result {
      let header = RpcStream.responseHeader(to: call.request.id, length: payload.utf8.count)
      try await send(payload, header, to: call.caller, on: carrier)
    } else {
      try await carrier.send(.rpcResponse(call.response(result)), to: [call.caller])
    }
  }

  /// A payload of any length.
  private func send(
    _ payload: String, _ header: Livekit_DataStream.Header, to other: String, on carrier: MessageCarrier
  ) async throws {
    let stream = try await OutgoingStream(header, to: [other], on: carrier)
    try await stream.write(StreamPieces.cut(payload))
    try await stream.close(reason: nil)
  }

  /// Where that cannot be sent the caller learns of it by waiting.
  private func refuse(_ call: IncomingCall, by participant: LocalParticipant) async {
    let error = RpcError.builtIn(.applicationError, data: "too many calls are being answered")
    guard let carrier = try? await participant.send(.rpcAck(call.ack), to: [call.caller]) else { return }
    try? await carrier.send(.rpcResponse(call.response(.failure(error))), to: [call.caller])
  }

  private func result(of call: IncomingCall, _ logger: Logger) async -> Result<String, RpcError> {
    do throws(RpcError) {
      guard call.isInKnownVersion else { throw RpcError.builtIn(.unsupportedVersion) }
      let method = call.request.method
      guard let handler = state.withLock({ $0.methods[method] }) else { throw RpcError.builtIn(.unsupportedMethod) }
      let answer = try await run(handler, call, logger)
      guard call.stream != nil || answer.utf8.count <= Self.payloadLimit else {
        throw RpcError.builtIn(.responsePayloadTooLarge)
      }
      return .success(answer)
    } catch {
      return .failure(error)
    }
  }

  private func run(
    _ handler: RpcHandler, _ call: IncomingCall, _ logger: Logger
  ) async throws(RpcError) -> String {
    let data = RpcInvocationData(
      requestId: call.request.id, callerIdentity: call.caller, payload: try await call.payload(),
      responseTimeout: Double(call.request.responseTimeoutMs) / 1000)
    do { return try await handler(data) } catch {
      if let own = error as? RpcError { throw own }
      // The caller hears nothing of what it was, and one that was cancelled is no failure.
      if !Task.isCancelled {
        logger.warning(
          "the handler of a method has failed", metadata: ["method": "\(call.request.method)", "reason": "\(error)"])
      }
      throw .builtIn(.applicationError)
    }
  }

  // MARK: Calling

  func call(
    _ request: Livekit_RpcRequest, of recipient: String, confirmedWithin ackLimit: Duration, within limit: Duration,
    by participant: LocalParticipant
  ) async throws -> String {
    let session = try participant.sendingSession()
    var request = request
    request.id = UUID().uuidString
    request.responseTimeoutMs = UInt32(clamping: (limit / .milliseconds(1)).rounded().clampedInt)
    let (id, outcome) = (request.id, Outcome<String, RpcError>())
    state.withLock { $0.calls[id] = Call(recipient: recipient, outcome: outcome) }
    let timer = Task { await watch(id, outcome, ackLimit, limit) }
    let sending = Task { [request, deadline = MediaTime.now + min(ackLimit, limit)] in
      await send(request, to: recipient, in: session, until: deadline, unless: outcome)
    }
    defer {
      let reading = state.withLock { $0.calls.removeValue(forKey: id)?.reading }
      for task in [timer, sending, reading] { task?.cancel() }
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
    _ request: Livekit_RpcRequest, to recipient: String, in session: RoomSession, until limit: MediaTime,
    unless outcome: Outcome<String, RpcError>
  ) async {
    do {
      let carrier = try await session.carrier(until: limit)
      state.withLock { $0.calls[request.id]?.isUnderWay = true }
      guard outcome.current == nil else { return }
      // Whoever is there now: another client may have come back under that identity.
      if session.room.remoteParticipants[recipient]?.readsRpcStreams == true {
        try await send(request.payload, request.streamHeader, to: recipient, on: carrier)
      } else {
        try await carrier.transport.send(try request.packet(to: recipient), limit: limit)
      }
    } catch let error as RpcError {
      outcome.settle(.failure(error))
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

  /// Of several streams that are said to be the answer the first one counts.
  func answered(by stream: TextStreamReader, from sender: String) {
    let id = stream.info.rpcID
    state.withLock { state in
      guard let call = state.calls[id], call.recipient == sender, call.reading == nil else { return }
      let (outcome, held) = (call.outcome, state.held.unread(of: sender))
      state.calls[id]?.reading = Task {
        do throws(RpcError) {
          outcome.settle(.success(try await stream.payload(countedIn: held, else: .responsePayloadTooLarge)))
        } catch {
          outcome.settle(.failure(error))
        }
      }
    }
  }

  /// Ends what is under way. A call that waits for the connection to come back goes on, but for one of who has left.
  /// - Parameter other: who has left; nil for the end of the session.
  func cut(from other: String?) {
    let (calls, answers) = state.withLock { state in
      let calls = state.calls.values.filter { other == nil ? $0.isUnderWay : $0.recipient == other }
      let answers = state.answers.filter { other == nil || $0.key == other }
      for caller in answers.keys { state.answers[caller] = nil }
      state.held.forget(other)
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
