import MediaCore

public import struct Foundation.Date

/// What the server says of a published track.
struct TrackInfo: Sendable, Equatable {
  var sid: String
  var name: String
  var kind: Track.Kind
  var source: Track.Source
  var mimeType: String
  /// The codec that is published first, then those published for clients that cannot decode it.
  var mimeTypes: [String]
  var isMuted: Bool
  var dimensions: Dimensions?
  var simulcasted: Bool
  var layers: [VideoLayer]
  var encryption = EncryptionType.none
  var publishedAt: Date?
}

/// A track as its participant published it, subscribed or not.
///
/// `@unchecked Sendable`: the subclass adds only `Locked` values, like this class.
public class TrackPublication: @unchecked Sendable {
  private struct Owner {
    weak var participant: Participant?
  }
  let info: Locked<TrackInfo>
  private let owner = Locked(Owner())

  init(info: TrackInfo) { self.info = Locked(info) }

  /// Who published it. Held weakly: nil when they have left the room and nobody else keeps them.
  public internal(set) var participant: Participant? {
    // Not read under the lock: that could end the last strong reference there.
    get { owner.withLock { $0 }.participant }
    set { owner.withLock { $0 = Owner(participant: newValue) } }
  }
  /// The server's id of the track; another one when the room was joined anew.
  public var sid: String { info.withLock { $0.sid } }
  /// As its publisher named it, such as ``Track/cameraName``; may be empty.
  public var name: String { info.withLock { $0.name } }
  /// Video or audio.
  public var kind: Track.Kind { info.withLock { $0.kind } }
  /// What its publisher captures.
  public var source: Track.Source { info.withLock { $0.source } }
  /// Whether its publisher, or the server for it, has muted it.
  public var isMuted: Bool { info.withLock { $0.isMuted } }
  /// Such as `video/VP8` or `audio/opus`.
  public var mimeType: String { info.withLock { $0.mimeType } }
  /// Published size of the frames; nil for audio or when the publisher did not say.
  public var dimensions: Dimensions? { info.withLock { $0.dimensions } }
  /// Whether it is published in several ``layers``.
  public var simulcasted: Bool { info.withLock { $0.simulcasted } }
  /// As `simulcasted`, under the name of today's SDK.
  public var isSimulcasted: Bool { simulcasted }
  /// The layers of a simulcast track, as the publisher announced them.
  public var layers: [VideoLayer] { info.withLock { $0.layers } }
  /// When it was published, by the server's clock; nil where the server does not say.
  public var publishedAt: Date? { info.withLock { $0.publishedAt } }
  /// How it is encrypted end to end. What is encrypted is not received: there is no way to give a key yet.
  public var encryptionType: EncryptionType { info.withLock { $0.encryption } }
  /// The media; nil while it is not subscribed.
  public var track: Track? { nil }
  /// Whether its media may be had here now.
  public var isSubscribed: Bool { false }
}

/// A track that another participant published.
///
/// `@unchecked Sendable`: adds only `Locked` values.
public final class RemoteTrackPublication: TrackPublication, @unchecked Sendable {
  struct State {
    var subscription: Subscription
    /// The track while it is subscribed and its media is set up.
    var track: Track?
    /// The track that delegates are being told of: by the time they are it may have gone.
    var toldTrack: Track?
  }

  let state: Locked<State>
  let requests: any SubscriptionRequests

  init(_ subscription: Subscription, requests: any SubscriptionRequests) {
    state = Locked(State(subscription: subscription))
    self.requests = requests
    super.init(info: subscription.info)
  }

  // MARK: For the session

  var subscription: Subscription { state.withLock { $0.subscription } }
  var receivedTrack: Track? {
    get { state.withLock { $0.track } }
    set { state.withLock { $0.track = newValue } }
  }

  /// From now on it says that of itself.
  func show(_ subscription: Subscription) {
    state.withLock { $0.subscription = subscription }
    info.withLock { $0 = subscription.info }
  }

  // MARK: For programs

  /// The track while it is subscribed and its media is set up. A delegate that is being told of a track finds that one,
  /// also where it has ended: so it can take its renderers off.
  public override var track: Track? {
    let isTelling = RoomNotifier.isTelling
    return state.withLock { isTelling ? $0.toldTrack ?? $0.track : $0.track }
  }
  /// Whether `track` is there and its publisher allows it.
  public override var isSubscribed: Bool {
    state.withLock { $0.track != nil && $0.subscription.objections.isAllowed }
  }
  /// Whether its publisher allows to receive it here; true until the server says otherwise.
  public var isSubscriptionAllowed: Bool { subscription.objections.isAllowed }
  /// Whether media comes: paused while it is disabled here, muted by its publisher or lost on its way, and while the
  /// server holds it back because the way is too narrow; active when the server says that it begins to send it, which
  /// LiveKit's does of video only, and when it goes on; unknown before. Why frames do not come `didDisableVideo` says.
  public var streamState: StreamState { subscription.streamState }

  /// `notAllowed` before all else; otherwise whether `track` is there.
  public var subscriptionState: SubscriptionState {
    state.withLock {
      $0.subscription.objections.isAllowed ? ($0.track != nil ? .subscribed : .unsubscribed) : .notAllowed
    }
  }

  /// Why it cannot be had as it is published; nil while nothing is known against it.
  package var refusal: LiveKitError? { subscription.objections.refusal }

  /// Asks the server to send (or stop sending) this track. The track itself appears with `didSubscribeTrack`.
  /// - Throws: `invalidState` without a connection.
  public func set(subscribed: Bool) async throws { try await requests.set(subscribed: subscribed, of: self) }

  /// Subscribes for an output where nobody has. Each `hold` is to be followed by a `release` with the same need.
  package func hold(_ need: OutputNeed) async { await requests.hold(self, need) }

  /// Ends the subscription when `hold` began it and no output needs it any more.
  package func release(_ need: OutputNeed) async { await requests.release(self, need) }
}

/// What an output needs of a track under adaptive stream.
package enum OutputNeed: Hashable, Sendable {
  /// All there is.
  case everything
  /// What its renderers show.
  case shown
}

/// What a publication asks of its room.
protocol SubscriptionRequests: AnyObject, Sendable {
  /// Whether renderers decide about settings, and not the program.
  var usesAdaptiveStream: Bool { get }
  /// Whether the track is wanted. What was wanted before holds again when that cannot be told.
  func set(subscribed: Bool, of publication: RemoteTrackPublication) async throws
  /// How the track is wanted; told together with what else changes in the same moment.
  func change(_ publication: RemoteTrackPublication, _ edit: @Sendable (inout TrackSettings) -> Void) async throws
  /// An output needs the track, or no longer.
  func hold(_ publication: RemoteTrackPublication, _ need: OutputNeed) async
  func release(_ publication: RemoteTrackPublication, _ need: OutputNeed) async
}
