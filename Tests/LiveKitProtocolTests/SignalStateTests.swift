import LiveKitProtocol
import MediaCore
import SwiftProtobuf
import Testing

private typealias Response = Livekit_SignalResponse

extension Livekit_SignalResponse {
  fileprivate static func make(_ message: OneOf_Message) -> Self {
    var response = Self()
    response.message = message
    return response
  }

  fileprivate static func join(interval: Int32 = 5, timeout: Int32 = 15) -> Self {
    var join = Livekit_JoinResponse()
    join.participant.sid = "PA_me"
    join.pingInterval = interval
    join.pingTimeout = timeout
    return .make(.join(join))
  }

  fileprivate static func pong(_ timestamp: Int64) -> Self {
    var pong = Livekit_Pong()
    pong.lastPingTimestamp = timestamp
    return .make(.pongResp(pong))
  }
}

extension MediaTime {
  fileprivate static func s(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64(seconds * 1e9)) }
}

extension SignalState {
  fileprivate mutating func receive(_ response: Livekit_SignalResponse, at now: MediaTime) throws -> [Action] {
    receive(try response.serializedBytes(), at: now)
  }

  /// What a shell does until `end`: sleeps to the next deadline and polls. Pings come with the second they left at.
  fileprivate mutating func run(until end: MediaTime) -> (pings: [Double], failure: SignalFailure?) {
    var pings: [Double] = []
    while let deadline = nextDeadline, deadline <= end {
      for action in poll(at: deadline) {
        if case .send(let request) = action, case .pingReq = request.message { pings.append(deadline.seconds) }
        if case .end(let failure) = action { return (pings, failure) }
      }
    }
    return (pings, nil)
  }

  fileprivate static func joined(interval: Int32 = 5, timeout: Int32 = 15) throws -> SignalState {
    var state = SignalState(at: .s(0), limit: .seconds(10))
    _ = try state.receive(.join(interval: interval, timeout: timeout), at: .s(0))
    return state
  }
}

extension MediaTime { fileprivate var seconds: Double { Double(nanoseconds) / 1e9 } }

@Suite("Opening of the signalling connection")
struct SignalOpeningTests {
  @Test func aJoinIsHandedOn() throws {
    var state = SignalState(at: .s(0), limit: .seconds(10))
    #expect(try state.receive(.join(), at: .s(1)) == [.deliver(.join())])
  }

  @Test func silenceEndsAtItsLimit() {
    var state = SignalState(at: .s(100), limit: .seconds(10))
    #expect(state.nextDeadline == .s(110))
    #expect(state.poll(at: .s(109.9)) == [])
    #expect(state.poll(at: .s(110)) == [.end(.noJoin)])
    #expect(state.nextDeadline == nil && state.poll(at: .s(200)) == [])
  }

  @Test func anotherFirstMessageIsAnErrorThatNamesIt() throws {
    var state = SignalState(at: .s(0), limit: .seconds(10))
    #expect(try state.receive(.make(.offer(.init())), at: .s(0)) == [.end(.unexpected("offer"))])
    #expect(try state.receive(.join(), at: .s(0)) == [], "nothing comes after the end")
  }

  @Test func unknownKindsAreLeftAlone() throws {
    var state = SignalState(at: .s(0), limit: .seconds(10))
    // Field 99, a string; and a message without any field.
    #expect(state.receive([0x9a, 0x06, 0x01, 0x78], at: .s(0)) == [])
    #expect(state.receive([], at: .s(0)) == [])
    #expect(state.nextDeadline == .s(10), "they do not count as a join")
    #expect(try state.receive(.join(), at: .s(1)) == [.deliver(.join())])
    #expect(state.receive([0x9a, 0x06, 0x01, 0x78], at: .s(2)) == [])
  }

  @Test func aLeaveInsteadOfAJoinIsToldWithItsReason() throws {
    var leave = Livekit_LeaveRequest()
    leave.reason = .roomDeleted
    var state = SignalState(at: .s(0), limit: .seconds(10))
    let actions = try state.receive(.make(.leave(leave)), at: .s(0))
    #expect(actions == [.deliver(.make(.leave(leave))), .end(.left(reason: .roomDeleted, action: .disconnect))])
  }

  @Test func aSecondJoinIsAnError() throws {
    var state = try SignalState.joined()
    #expect(try state.receive(.join(), at: .s(1)) == [.end(.unexpected("join"))])
  }

  @Test func aResumedSessionPingsAsTheEarlierOneDid() throws {
    let pings = try #require(try SignalState.joined(interval: 7).pings)
    var state = SignalState(.resume(pings), at: .s(0), limit: .seconds(10))
    let reconnect = Response.make(.reconnect(.init()))
    #expect(try state.receive(reconnect, at: .s(0)) == [.deliver(reconnect)])
    #expect(state.nextDeadline == .s(7))
    #expect(state.pings == pings, "kept for the next time")
  }

  @Test func updatesThatWaitedComeBeforeTheReconnect() throws {
    var state = SignalState(.resume(nil), at: .s(0), limit: .seconds(10))
    let update = Response.make(.update(.init()))
    #expect(try state.receive(update, at: .s(0)) == [.deliver(update)])
    #expect(state.nextDeadline == nil)
  }

  @Test func aResumedSessionIsNotJoinedAnew() throws {
    var state = SignalState(.resume(nil), at: .s(0), limit: .seconds(10))
    #expect(try state.receive(.join(), at: .s(0)) == [.end(.unexpected("join"))])
  }
}

@Suite("Pings")
struct SignalPingTests {
  @Test func theyLeaveAtTheInterval() throws {
    var state = try SignalState.joined(interval: 5, timeout: 15)
    #expect(state.nextDeadline == .s(5))
    let actions = state.poll(at: .s(5))
    guard case .send(let request) = actions.first, case .pingReq(let ping) = request.message else {
      Issue.record("no ping: \(actions)")
      return
    }
    #expect(actions.count == 1 && ping.timestamp == 5000 && ping.rtt == 0)
  }

  /// LiveKit asks for a ping every 5 s and allows 15 s: the pings in between must not put the end off.
  @Test func silenceEndsTheConnectionThoughPingsGoOn() throws {
    var state = try SignalState.joined(interval: 5, timeout: 15)
    let (pings, failure) = state.run(until: .s(100))
    #expect(pings == [5, 10, 15])
    #expect(failure == .noPong(.seconds(15)))
  }

  @Test(arguments: [true, false]) func pongsKeepItAlive(isOldKind: Bool) throws {
    var state = try SignalState.joined(interval: 5, timeout: 15)
    for round in 1...100 {
      let time = Double(round) * 5
      #expect(state.run(until: .s(time)).failure == nil)
      #expect(try state.receive(isOldKind ? .make(.pong(0)) : .pong(0), at: .s(time + 0.1)) == [])
    }
    #expect(state.run(until: .s(515)).failure == nil)
  }

  @Test func theRoundTripIsMeasuredAndToldInTheNextPing() throws {
    var state = try SignalState.joined(interval: 5)
    _ = state.poll(at: .s(5))
    _ = try state.receive(.pong(5000), at: .s(5.042))
    #expect(state.roundTrip == 42)
    guard case .send(let request) = state.poll(at: .s(10)).first else {
      Issue.record("no second ping")
      return
    }
    #expect(request.pingReq.rtt == 42)
  }

  @Test(arguments: [Int64.min, -1, 0, 4999, 6000, .max])
  func timestampsThatWeNeverSentMeasureNothing(timestamp: Int64) throws {
    var state = try SignalState.joined(interval: 5)
    _ = state.poll(at: .s(5))
    #expect(try state.receive(.pong(timestamp), at: .s(5.5)) == [])
    #expect(state.roundTrip == 0)
  }

  @Test func aPongWithoutAPingChangesNothing() throws {
    var state = try SignalState.joined(interval: 5)
    #expect(try state.receive(.pong(0), at: .s(1)) == [])
    #expect(state.roundTrip == 0 && state.nextDeadline == .s(5))
  }

  @Test(arguments: [0, -1, Int32.min]) func serversThatAskForNoneGetNone(interval: Int32) throws {
    let state = try SignalState.joined(interval: interval)
    #expect(state.nextDeadline == nil && state.pings == nil)
  }

  @Test(
    arguments: [
      (1, 0, 1.0, 15.0), (1, -1, 1, 15), (Int32.max, Int32.max, 300, 300), (10, Int32.min, 10, 15), (10, 1, 10, 1),
    ] as [(Int32, Int32, Double, Double)])
  func absurdNumbersAreBounded(interval: Int32, timeout: Int32, seconds: Double, limit: Double) throws {
    let pings = try #require(try SignalState.joined(interval: interval, timeout: timeout).pings)
    #expect(pings.interval == .seconds(seconds) && pings.timeout == .seconds(limit))
  }

  @Test func aLateTimerSendsOnePing() throws {
    var state = try SignalState.joined(interval: 5, timeout: 100)
    #expect(state.poll(at: .s(60)).count == 1)
    #expect(state.poll(at: .s(60)) == [])
    #expect(state.nextDeadline == .s(65))
  }
}

@Suite("Signalling messages")
struct SignalMessageTests {
  @Test func whatConcernsTheRoomIsHandedOn() throws {
    var state = try SignalState.joined()
    for message in [Response.make(.update(.init())), .make(.offer(.init())), .make(.mute(.init()))] {
      #expect(try state.receive(message, at: .s(1)) == [.deliver(message)])
    }
  }

  @Test func theLastGoodTokenIsKept() throws {
    var state = try SignalState.joined()
    #expect(state.refreshedToken == nil)
    for token in ["a.b.c", "d.e.f", "", "x\r\nHost: evil", "g h", String(repeating: "x", count: 20_000)] {
      #expect(try state.receive(.make(.refreshToken(token)), at: .s(1)) == [], "it is nobody's business")
    }
    #expect(state.refreshedToken == "d.e.f")
    var moved = Livekit_RoomMovedResponse()
    moved.token = "g.h.i"
    #expect(try state.receive(.make(.roomMoved(moved)), at: .s(1)) == [.deliver(.make(.roomMoved(moved)))])
    #expect(state.refreshedToken == "g.h.i")
  }

  @Test func aLeaveEndsWithReasonAndAction() throws {
    var leave = Livekit_LeaveRequest()
    leave.reason = .serverShutdown
    leave.action = .reconnect
    var state = try SignalState.joined()
    let actions = try state.receive(.make(.leave(leave)), at: .s(1))
    #expect(actions.last == .end(.left(reason: .serverShutdown, action: .reconnect)))
    #expect(state.nextDeadline == nil && state.isEnded)
  }

  @Test(
    arguments: [
      [0xff], [0x0a, 0x05, 0x01], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f], [0x07], [0x82, 0x01, 0x02, 0xff, 0xfe],
      Array("HTTP/1.1 200 OK".utf8), [UInt8](repeating: 0x0b, count: 4096),
    ] as [[UInt8]])
  func garbageIsATypedError(bytes: [UInt8]) throws {
    var opening = SignalState(at: .s(0), limit: .seconds(10))
    var open = try SignalState.joined()
    let expected = [SignalState.Action.end(.unreadable("\(bytes.count) bytes that are no protobuf message"))]
    #expect(opening.receive(bytes, at: .s(1)) == expected)
    #expect(open.receive(bytes, at: .s(1)) == expected)
  }

  @Test func textIsATypedError() throws {
    var state = try SignalState.joined()
    #expect(state.receiveText() == [.end(.unreadable("text instead of protobuf"))])
  }

  @Test func theFirstEndIsTheReason() throws {
    var state = try SignalState.joined()
    #expect(state.failed(.closed("bye")) == [.end(.closed("bye"))])
    #expect(state.failed(.broken("reset")) == [])
  }

  @Test func afterAStopOfOursNothingFails() throws {
    var state = try SignalState.joined()
    state.stop()
    #expect(state.failed(.broken("reset")) == [] && state.poll(at: .s(1000)) == [])
    #expect(try state.receive(.make(.update(.init())), at: .s(1)) == [])
  }
}

/// Fields go by the numbers of LiveKit's protocol.
@Suite struct AddTrackRequestTests {
  @Test func thePolicyOfABackupCodecIsField16() throws {
    var request = Livekit_AddTrackRequest()
    request.backupCodecPolicy = .regression
    let bytes: [UInt8] = try request.serializedBytes()
    #expect(bytes == [0x80, 0x01, 0x02])
    #expect(try Livekit_AddTrackRequest(serializedBytes: bytes) == request)
  }
}
