/// What went wrong, in one line that says what to do about it.
public struct LiveKitError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of mistake it is, for programs; later versions may have more of them.
  public enum Code: String, Sendable, Hashable {
    /// The address, an option or an argument cannot be used as given.
    case invalidParameter
    /// The call does not fit the state of the object it was made on.
    case invalidState
    /// Nothing answered, or what answered is not a LiveKit server.
    case network
    /// The certificate or the TLS handshake was refused.
    case tls
    /// The server refused the token, its signature or what it grants.
    case unauthorized
    /// The server has no such room, and does not make one.
    case roomNotFound
    /// The participant may not do this in the room.
    case permissionDenied
    /// Media could not be connected; the message names the candidates tried.
    case iceFailed
    /// The connection was there and has ended, by the server or the network.
    case disconnected
    /// Another participant joined with the same identity, which ends this one's session.
    case duplicateIdentity
    /// The server goes down.
    case serverShutDown
    /// The server, or somebody by its API, removed this participant.
    case participantRemoved
    /// The room was deleted or closed on the server.
    case roomDeleted
    /// What was waited for did not come in time: an answer, the first media connection, a recording's participant.
    case timedOut
    /// A track is in a codec that is not received here.
    case unsupportedCodec
    /// A track is encrypted end to end, and there is no way to give a key.
    case encrypted
    /// The server does not know the track any more.
    case trackNotFound
    /// The server could not send a track and did not say why.
    case subscriptionFailed
    /// A track is subscribed but nothing of it arrives.
    case noMedia
    /// A GStreamer element is not installed; the message names its Debian package.
    case missingElement
    /// A pipeline text has a mistake; the message names file and line.
    case template
    /// A pipeline stopped while it ran.
    case pipeline
    /// A file cannot be written: folder, permission or disk.
    case output
    /// There is no display that a window could open on.
    case display
    /// The call was ended by `disconnect()` or by the end of its task.
    case cancelled
  }

  /// For programs.
  public let code: Code
  /// For people: what happened, to what, and what to do about it.
  public let message: String

  /// - Parameter message: one line for people.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}
