import Foundation
import LiveKitProtocol
import PeerTransport

// What a client comes back with once its own token has expired.
extension DevParticipant {
  /// How often a LiveKit server sends one, and for how many seconds it is valid (`roommanager.go`).
  private static let refreshInterval = Duration.seconds(300)
  private static let lifetime = 600.0

  /// With what the participant is called by now, for the room in which it is.
  var freshToken: AccessToken {
    var fresh = AccessToken(
      apiKey: configuration.apiKey, identity: identity, grant: token.video, validFor: Self.lifetime, now: Date())
    fresh.video.room = room.name
    fresh.name = info.name.isEmpty ? nil : info.name
    fresh.metadata = info.metadata.isEmpty ? nil : info.metadata
    fresh.attributes = info.attributes.isEmpty ? nil : info.attributes
    fresh.kind = token.kind
    return fresh
  }

  /// Sends one now and from now on, as after each join and each change of what it says.
  func refreshToken() {
    tokenTimer?.cancel()
    let bound = LoopBound(Weak(self), on: loop)
    tokenTimer = loop.after(Self.refreshInterval) { bound.value.object?.refreshToken() }
    guard let text = try? freshToken.signed(secret: configuration.apiSecret) else { return }
    var response = Livekit_SignalResponse()
    response.refreshToken = text
    send(response)
  }
}
