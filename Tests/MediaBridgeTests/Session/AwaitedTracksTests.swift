import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Tracks that a server was asked for and does not begin to send.
@Suite struct AwaitedTracksTests {
  private static let patience = SubscriptionWatch.patience
  private static let almost = patience - .seconds(1)

  private static func bob(isMuted: Bool = false) -> Livekit_ParticipantInfo {
    var info = Course.info(of: "bob")
    info.tracks[0].muted = isMuted
    return info
  }

  /// In a room with alice's camera, which comes, and bob's, which does not.
  private static func waiting(isMuted: Bool = false) -> Course {
    var course = Course.standing()
    course.update([bob(isMuted: isMuted)])
    return course
  }

  /// LiveKit's server says nothing where it has reached its limit of subscriptions.
  @Test func whatDoesNotBeginIsToldOnce() throws {
    var course = Self.waiting()
    let early = course.advance(by: Self.almost).failures
    #expect(early.isEmpty)
    let told = course.advance(by: .seconds(1)).failures
    let (sid, error) = try #require(told.first)
    #expect(told.count == 1 && sid == "TR_bob" && error.code == .noMedia && error.fault == .server)
    #expect(error.message.contains("camera of bob (TR_bob) in 10 s") && error.message.contains("limit"))
    let later = course.advance(by: .seconds(60)).failures
    #expect(later.isEmpty)
  }

  @Test func whatBeginsInTimeIsNotMissed() {
    var course = Self.waiting()
    _ = course.advance(by: Self.almost)
    let media = Course.Media()
    let both = ["TR_alice": ObjectIdentifier(course.media), "TR_bob": ObjectIdentifier(media)]
    course.handle(.media(both))
    let told = course.advance(by: .seconds(60)).failures
    #expect(told.isEmpty)
  }

  @Test func whoAsksAgainIsToldAgain() {
    var course = Self.waiting()
    _ = course.advance(by: Self.patience)
    course.handle(.want(sid: "TR_bob", false))
    let unwanted = course.advance(by: .seconds(60)).failures
    course.handle(.want(sid: "TR_bob", true))
    let early = course.advance(by: Self.almost).failures
    let told = course.advance(by: .seconds(1)).failures
    #expect(unwanted.isEmpty && early.isEmpty && told.map(\.sid) == ["TR_bob"])
  }

  /// The server may have nothing of it yet.
  @Test func whatIsMutedIsNotMissedBeforeItIsUnmuted() {
    var course = Self.waiting(isMuted: true)
    let muted = course.advance(by: .seconds(60)).failures
    course.update([Self.bob()])
    let early = course.advance(by: Self.almost).failures
    let told = course.advance(by: .seconds(1)).failures
    #expect(muted.isEmpty && early.isEmpty && told.map(\.sid) == ["TR_bob"])
  }

  /// What is in the way was told already, or is no fault.
  @Test func whatCannotComeIsNotMissed() {
    var forbidden = Self.waiting()
    var update = Livekit_SubscriptionPermissionUpdate()
    (update.trackSid, update.allowed) = ("TR_bob", false)
    forbidden.handle(.response(.subscriptionPermissionUpdate(update)))
    var refused = Self.waiting()
    var response = Livekit_SubscriptionResponse()
    (response.trackSid, response.err) = ("TR_bob", .seTrackNotfound)
    refused.handle(.response(.subscriptionResponse(response)))
    var encrypted = Self.waiting()
    encrypted.update([Course.info(of: "bob", encryption: .gcm)])
    var gone = Self.waiting()
    gone.update([Course.info(of: "bob", .disconnected)])
    // Whose token allows it to publish alone.
    var deaf = Self.waiting()
    var info = Course.ourselves
    info.permission.canPublish = true
    deaf.update([info])
    for var course in [forbidden, refused, encrypted, gone, deaf] {
      let told = course.advance(by: .seconds(60)).failures
      #expect(told.isEmpty)
    }
  }

  /// While the connection is lost nothing can begin, and what was told is not told anew when it is back.
  @Test func theTimeOfALossDoesNotCount() {
    var course = Self.waiting()
    _ = course.advance(by: Self.almost)
    course.lose(.quick)
    _ = course.resume()
    let early = course.advance(by: Self.almost).failures
    let told = course.advance(by: .seconds(1)).failures
    #expect(early.isEmpty && told.map(\.sid) == ["TR_bob"])
    course.lose(.quick)
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    let again = course.advance(by: .seconds(60)).failures
    #expect(again.isEmpty)
  }
}
