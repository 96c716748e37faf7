/// What went wrong, in one line that says what to do about it, whose fault it was, and what was behind it.
public struct LiveKitError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for programs. New ones may come: a `switch` needs a `default`.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// As in JSON, such as `noMedia`.
    public let rawValue: String
    /// One that may be unknown here.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// `rawValue`.
    public var description: String { rawValue }
  }

  /// Who has to do something about it.
  public enum Fault: String, Sendable, Hashable {
    /// This machine: something is not installed, or does not work.
    case machine
    /// The LiveKit server, or the network to it.
    case server
    /// Where an output is written or sent to.
    case destination
    /// Whoever publishes the track.
    case publisher
    /// The program that made the call, or the person who gave it its options.
    case caller
  }

  /// For programs.
  public let code: Code
  /// For people: what happened, to what, and what to do about it.
  public let message: String
  /// Who has to do something about it.
  public let fault: Fault
  /// What was behind it, as the part that failed has said it; nil when nothing was. For logs: its type may change.
  public internal(set) var underlying: (any Error)?

  /// - Parameters:
  ///   - message: one line for people.
  ///   - fault: nil for whose fault it is as a rule with this code; an unknown code is the caller's.
  ///   - underlying: what was behind it.
  public init(_ code: Code, _ message: String, fault: Fault? = nil, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.fault = fault ?? code.usualFault
    self.underlying = underlying
  }

  /// The message.
  public var description: String { message }
}

/// Errors are the same that say the same, whatever was behind them.
extension LiveKitError: Hashable {
  /// Compares code, message and fault.
  public static func == (one: LiveKitError, other: LiveKitError) -> Bool {
    (one.code, one.message, one.fault) == (other.code, other.message, other.fault)
  }

  /// Of code, message and fault.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(message)
    hasher.combine(fault)
  }
}

extension LiveKitError.Code {
  /// The address, an option or an argument cannot be used as given.
  public static let invalidParameter = Self(rawValue: "invalidParameter")
  /// The call does not fit the state of the object it was made on.
  public static let invalidState = Self(rawValue: "invalidState")
  /// Nothing answered, or what answered is not a LiveKit server.
  public static let network = Self(rawValue: "network")
  /// The certificate or the TLS handshake was refused.
  public static let tls = Self(rawValue: "tls")
  /// The server refused the token, its signature or what it grants.
  public static let unauthorized = Self(rawValue: "unauthorized")
  /// The server has no such room, and does not make one.
  public static let roomNotFound = Self(rawValue: "roomNotFound")
  /// The participant may not do this in the room.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// Media could not be connected; the message names the candidates tried.
  public static let iceFailed = Self(rawValue: "iceFailed")
  /// The connection was there and has ended, by the server or the network.
  public static let disconnected = Self(rawValue: "disconnected")
  /// Another participant joined with the same identity, which ends this one's session.
  public static let duplicateIdentity = Self(rawValue: "duplicateIdentity")
  /// The server goes down.
  public static let serverShutDown = Self(rawValue: "serverShutDown")
  /// The server, or somebody by its API, removed this participant.
  public static let participantRemoved = Self(rawValue: "participantRemoved")
  /// Somebody deleted the room on the server.
  public static let roomDeleted = Self(rawValue: "roomDeleted")
  /// The server closed the room, as it does some time after everybody has left: recorders and agents keep none open.
  public static let roomClosed = Self(rawValue: "roomClosed")
  /// What was waited for did not come in time: an answer, the first media connection, a recording's participant.
  public static let timedOut = Self(rawValue: "timedOut")
  /// A track is in a codec that is not received here.
  public static let unsupportedCodec = Self(rawValue: "unsupportedCodec")
  /// A track is encrypted end to end, and there is no way to give a key.
  public static let encrypted = Self(rawValue: "encrypted")
  /// The server does not know the track any more.
  public static let trackNotFound = Self(rawValue: "trackNotFound")
  /// The server could not send a track and did not say why.
  public static let subscriptionFailed = Self(rawValue: "subscriptionFailed")
  /// Nothing of a track arrives that is subscribed, or the server does not begin to send one.
  public static let noMedia = Self(rawValue: "noMedia")
  /// A GStreamer element is not installed; the message names its Debian package.
  public static let missingElement = Self(rawValue: "missingElement")
  /// This build is without an optional part; the message says how to build with it.
  public static let notBuilt = Self(rawValue: "notBuilt")
  /// A pipeline template has a mistake; the message names file and line.
  public static let template = Self(rawValue: "template")
  /// A pipeline stopped while it ran.
  public static let pipeline = Self(rawValue: "pipeline")
  /// A file cannot be written: folder, permission or disk.
  public static let output = Self(rawValue: "output")
  /// There is no display that a window could open on.
  public static let display = Self(rawValue: "display")
  /// The call was ended by `disconnect()` or by the end of its task.
  public static let cancelled = Self(rawValue: "cancelled")

  /// Whose fault it is unless whoever makes the error knows better.
  fileprivate var usualFault: LiveKitError.Fault {
    switch self {
    case .network, .tls, .iceFailed, .disconnected, .serverShutDown, .participantRemoved, .roomDeleted, .roomClosed,
      .timedOut, .subscriptionFailed:
      .server
    case .unsupportedCodec, .encrypted, .trackNotFound, .noMedia: .publisher
    case .missingElement, .notBuilt, .pipeline, .display: .machine
    case .output: .destination
    default: .caller
    }
  }
}
