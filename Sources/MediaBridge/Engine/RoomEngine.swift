import Foundation
import GStreamerKit
package import LiveKitProtocol
import Logging
import MediaCore
import PeerTransport
import SignalTransport

/// Runs the sessions of one connection to a room: what the server says becomes participants, publications, tracks and
/// events. A session that is lost is resumed, or another one takes its place.
actor RoomEngine {
  /// Held until the connection has ended, when the room forgets its engine: what still arrives has somewhere to go.
  let room: Room
  let options: RoomOptions
  let factory: PipelineFactory
  let playbackFactory: PipelineFactory
  /// What every session is made with; nil before the first.
  var access: RoomAccess?
  var signal: SignalConnection?
  var subscriber: SubscriberTransport?
  var isMediaConnected = false
  /// The newest offer and our answer to it.
  var descriptions: (offer: String, answer: String)?
  var statistics: StatisticsReporter?
  /// Nil when nothing is to be played.
  var playback: Playback?
  /// What the server is about to be told of tracks, the task that does, and who waits for it.
  var settings = SettingsSchedule()
  var settingsTeller: (deadline: MediaTime, task: Task<Void, Never>)?
  var settingsWaiters: [CheckedContinuation<Void, any Error>] = []
  /// Asks renderers what they need, now and then.
  var demandWatcher: Task<Void, Never>?
  var demandReading = DemandReading.none
  /// Measures how tracks arrive, where audio fallback is on.
  var congestionWatcher: Task<Void, Never>?
  /// Settled when the session that is being made stands, or cannot.
  var attempt = Outcome<Void, SessionFailure>()
  var reconnection: Reconnection?
  /// When the connection was brought back last, and how often it was lost since it was steady.
  var lastReturn: MediaTime?
  var losses = 0
  /// SIDs of those who were in the room before the session was lost, and are not in the new one yet.
  var absent: Set<String> = []
  /// Gives up what has not come back in a new session.
  var returnLimit: Task<Void, Never>?
  private(set) var isOver = false
  private var ending: Task<Void, Never>?
  private var dropping: Task<Void, Never>?
  var reader: Task<Void, Never>?
  let logger = Logger(label: "mediabridge.room")

  init(room: Room, options: RoomOptions) {
    self.room = room
    self.options = options
    factory = PipelineFactory(folder: options.pipelineFolder, overrides: options.receiveValues)
    playbackFactory = PipelineFactory(folder: options.pipelineFolder, overrides: options.playbackValues)
  }

  var autoSubscribe: Bool { access?.autoSubscribe ?? options.autoSubscribe }

  func connect(url: String, token: String, options connect: ConnectOptions) async throws(LiveKitError) {
    do { try GStreamer.initialize() } catch { throw LiveKitError(.pipeline, "GStreamer cannot start: \(error)") }
    try factory.check(try factory.names(of: .receive))
    if options.audioPlayback == .automatic {
      try playbackFactory.check([PipelineTextName(.output, PlaybackMixer.template)])
    }
    do throws(SignalError) {
      access = RoomAccess(
        url: try SignalURL(url), token: token, autoSubscribe: connect.autoSubscribe ?? options.autoSubscribe,
        options: connect)
    } catch {
      throw LiveKitError(error)
    }
    do throws(SessionFailure) { try await join() } catch { throw error.error }
  }

  // MARK: Ending

  func leave() async {
    signal?.send(.goodbye)
    await end(with: nil)
  }

  /// Returns when nothing of the connection is left, whoever began to end it.
  func end(with error: LiveKitError?) async {
    let ending = ending ?? Task { await close(for: error) }
    (self.ending, isOver) = (ending, true)
    await ending.value
  }

  private func close(for error: LiveKitError?) async {
    logger.debug("disconnected", metadata: ["reason": "\(error?.message ?? "asked for")"])
    let bringingBack = reconnection?.task
    endReconnecting()
    endSettings()
    for participant in room.remoteParticipants.values { removeTracks(of: participant) }
    await statistics?.stop()
    await playback?.close()
    playback = nil
    await dropSession()
    if let bringingBack {
      // It may wait for a session that will not stand.
      attempt.settle(.failure(.givenUp))
      await bringingBack.value
    }
    room.ended(error)
    attempt.settle(.failure(error.map { SessionFailure($0, remedy: nil) } ?? .givenUp))
  }

  /// Returns when neither a socket nor a thread of the session is left.
  func dropSession() async {
    let subscriber = subscriber
    (self.subscriber, descriptions) = (nil, nil)
    let signal = takeSignal()
    await drop(subscriber, signal)
  }

  /// The signalling connection, of which nothing is heard from now on.
  func takeSignal() -> SignalConnection? {
    defer { signal = nil }
    return signal
  }

  /// Closes them; returns when that is done, and what was dropped before has gone, too.
  func drop(_ subscriber: SubscriberTransport?, _ signal: SignalConnection?) async {
    let drop = Task { [earlier = dropping] in
      await earlier?.value
      await subscriber?.close()
      await signal?.close()
    }
    dropping = drop
    await drop.value
  }
}

/// Where a room is joined, as whom and how.
struct RoomAccess: Sendable {
  let url: SignalURL
  /// The newest; servers send another one before it expires.
  var token: String
  let autoSubscribe: Bool
  let options: ConnectOptions
}

/// Why a session cannot be made or go on, and what may help; nil when nothing will.
struct SessionFailure: Error {
  let error: LiveKitError
  let remedy: ReconnectMode?

  init(_ error: LiveKitError, remedy: ReconnectMode?) { (self.error, self.remedy) = (error, remedy) }

  static let givenUp = SessionFailure(LiveKitError(.cancelled, "the connection was given up"), remedy: nil)
}

extension Livekit_SignalRequest {
  /// The participant goes, of its own accord.
  package static var goodbye: Livekit_SignalRequest {
    var request = Livekit_SignalRequest()
    request.leave.reason = .clientInitiated
    request.leave.action = .disconnect
    return request
  }
}
