import Foundation
import LiveKitProtocol
import Testing

@testable import SignalTransport

/// Which token is tried where the newest is refused.
@Suite struct SignalTokensTests {
  private let now = Date(timeIntervalSince1970: 1_000_000)

  private func token(_ identity: String = "alice", room: String = "room", seconds: TimeInterval) throws -> String {
    let grant = VideoGrant(room: room, roomJoin: true)
    return try AccessToken(apiKey: "key", identity: identity, grant: grant, validFor: seconds, now: now)
      .signed(secret: "secret")
  }

  @Test func theGivenOneIsTriedOnce() throws {
    let (given, sent) = (try token(seconds: 3600), try token(seconds: 600))
    var tokens = SignalTokens(given)
    #expect(tokens.goBack(at: now) == false)
    #expect(tokens.newest == given)
    tokens.renew(with: sent)
    #expect(tokens.newest == sent)
    #expect(tokens.goBack(at: now) == true)
    #expect(tokens.newest == given)
    #expect(tokens.goBack(at: now) == false)
  }

  @Test func whatHasExpiredIsNotTried() throws {
    let sent = try token(seconds: 7200)
    var tokens = SignalTokens(try token(seconds: 3600))
    tokens.renew(with: sent)
    #expect(tokens.goBack(at: now + 3600) == false)
    #expect(tokens.newest == sent)
    #expect(tokens.goBack(at: now + 3599) == true)
  }

  /// It would lead back to a room that the participant was moved out of.
  @Test func whatIsForAnotherStayIsNotTried() throws {
    let given = try token(seconds: 3600)
    for sent in [try token(room: "another", seconds: 600), try token("bob", seconds: 600), "a.b.c", "none"] {
      var tokens = SignalTokens(given)
      tokens.renew(with: sent)
      #expect(tokens.goBack(at: now) == false)
      #expect(tokens.newest == sent)
    }
  }
}
