/// What went wrong, in one line that says what to do about it.
public struct LiveKitError: Error, Sendable, Hashable, CustomStringConvertible {
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
    case roomNotFound
    /// The participant may not do this in the room.
    case permissionDenied
    /// Media could not be connected; the message names the candidates tried.
    case iceFailed
    case disconnected
    case duplicateIdentity
    case serverShutDown
    case participantRemoved
    case roomDeleted
    case timedOut
    case unsupportedCodec
    /// A track is encrypted end to end, and there is no way to give a key.
    case encrypted
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
    case cancelled
  }

  public let code: Code
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}
