import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Synchronization

/// One track in one form: as it was sent, decoded, or encoded by one template. All destinations that want it so share it,
/// and none waits for another.
final class FeedLine: Sendable {
  /// What two destinations have to agree on to share a line.
  enum Form: Equatable, Sendable {
    case asSent
    case raw
    /// The template, with the same values.
    case encoded(FilledTemplate)

    /// Whether decoded frames or PCM go in.
    var isRaw: Bool { self != .asSent }

    /// The name of its encode template.
    var encoder: String? { if case .encoded(let template) = self { template.name } else { nil } }

    /// Whether it is what a feed asks for, whatever the values.
    func isOf(_ feed: Feed) -> Bool {
      switch feed.way {
      case .asSent: self == .asSent
      case .raw: self == .raw
      case .encoded(let name): encoder == name
      }
    }
  }

  /// A destination's input.
  struct Taker: Sendable {
    /// Of the destination.
    var id: ObjectIdentifier
    /// The longest time between two keyframes that it can do with.
    var keyframeInterval: Duration?
    /// Called on a media thread, in order; to return at once.
    var take: @Sendable (MediaBuffer, FeedTime) -> Void
    /// Called when nothing comes any more, on any thread.
    var fail: @Sendable (LiveKitError) -> Void
  }

  let kind: Track.Kind
  /// Whose audio alone it is, by the number of its input; nil for what is of all.
  let voice: Int?
  let form: Form
  private let hub: FeedHub
  /// Nil for what is not encoded, and once it has stopped: a pipeline is not to be kept for as long as others are written.
  private let encoding: Locked<EncodePipeline?>
  private let droppedByThen = Locked(0)
  private let onKeyframeNeeded: @Sendable () -> Void

  /// - Parameters:
  ///   - caps: the format of what goes in; nil to go by what comes.
  ///   - keyframeInterval: the longest time between two keyframes where no destination says one; nil for what the encoder
  ///     makes by itself, or whoever sends.
  ///   - onKeyframeNeeded: told when whoever sends the track is to send a keyframe.
  /// - Throws: why there is no encoder.
  init(
    _ kind: Track.Kind, voice: Int? = nil, _ form: Form, caps: Caps?, keyframeInterval: Duration? = nil,
    factory: PipelineFactory,
    onKeyframeNeeded: @escaping @Sendable () -> Void
  ) throws(LiveKitError) {
    (self.kind, self.voice, self.form, self.onKeyframeNeeded) = (kind, voice, form, onKeyframeNeeded)
    let hub = FeedHub(lead: form == .asSent ? .milliseconds(300) : .zero, keyframeInterval: keyframeInterval)
    self.hub = hub
    encoding = Locked(nil)
    guard case .encoded(let template) = form else { return }
    let encoder = try LiveKitError.wrapping { () throws(PipelineFailure) in
      try EncodePipeline(
        template, factory: factory,
        // An encoder keeps a request for the first frame of that time, as long as that waits for it.
        onBuffer: { [weak self] in
          if let awaited = hub.deliver(encoded: $0) { self?.encoder?.requestKeyframe(at: awaited) }
        }, onFailure: { hub.fail(LiveKitError($0)) })
    }
    if let caps { encoder.set(caps: caps) }
    encoding.withLock { $0 = encoder }
  }

  private var encoder: EncodePipeline? { encoding.withLock { $0 } }
  var isEncoded: Bool { form.encoder != nil }
  /// Whether nobody takes what comes out.
  var isIdle: Bool { hub.isEmpty }
  /// Whether nobody else takes what comes out.
  func isOnly(for id: ObjectIdentifier) -> Bool { hub.isOnly(for: id) }

  /// Of a line, for those who tell lines apart.
  var id: ObjectIdentifier { ObjectIdentifier(self) }

  /// One that is there already takes in this way from now on.
  func add(_ taker: Taker) { hub.add(taker) }

  /// - Returns: whether nobody is left.
  func remove(_ id: ObjectIdentifier) -> Bool { hub.remove(id) }

  /// Call it before the first push of a line that is added while the job runs. Encoders of audio fill all that is missing
  /// since their beginning, which may be hours ago.
  /// - Parameter start: from when on there is to be media.
  func begin(from start: Duration) { if isEncoded { hub.begin(at: max(.zero, start - Self.slack)) } }

  /// Lines are not quite as far as each other.
  private static let slack = Duration.seconds(10)

  /// Called by one thread at a time, with times that go up.
  /// - Parameter isStandIn: whether nobody sent it, who could be asked for a keyframe.
  func push(_ media: MediaBuffer, at time: Duration, isStandIn: Bool = false) {
    guard isEncoded else {
      if form == .asSent, kind == .video, !isStandIn, hub.isKeyframeDue(behind: media, at: time) { onKeyframeNeeded() }
      return hub.deliver(media, FeedTime(shown: time, isStandIn: isStandIn))
    }
    guard let encoder else { return }
    let own = time - hub.beginning
    if hub.isKeyframeDue(at: time) { encoder.requestKeyframe(at: own) }
    encoder.push(media, at: own, updatingCaps: kind == .video)
  }

  /// Whether nothing comes of it any more, which those are told who take it.
  var hasFailed: Bool { hub.failure != nil }

  /// Whether something came out of the encoder.
  var hasBegun: Bool { hub.hasBegun }

  /// An encoder begins with one. From any thread.
  /// - Returns: false where it is too early to ask.
  @discardableResult
  func requestKeyframe() -> Bool {
    guard isEncoded else {
      if !form.isRaw { onKeyframeNeeded() }
      return true
    }
    guard hasBegun else { return false }
    encoder?.requestKeyframe()
    return true
  }

  /// Has an encoder make a keyframe of the first frame at that time of the job or after it.
  /// - Returns: when it is, which somebody else may have said; nil where another sends it, when it is asked.
  func requestKeyframe(from time: Duration) -> Duration? { isEncoded ? hub.awaitKeyframe(from: time) : nil }

  /// Raw media that the encoder has dropped because it did not keep up.
  var dropped: Int { encoder?.dropped ?? droppedByThen.withLock { $0 } }

  /// Encodes what waits; all of it has been handed on when this returns. Who takes it is told when that fails.
  func drain() async {
    do { try await encoder?.drain() } catch {
      hub.fail(LiveKitError(.output, "it could not be completed: \(error.message)", underlying: error))
    }
  }

  /// Nothing comes after it returned.
  func stop() async {
    guard let encoder else { return }
    await encoder.stop()
    droppedByThen.withLock { $0 = encoder.dropped }
    encoding.withLock { $0 = nil }
  }
}

extension FeedLine.Form {
  /// What an encode template makes; nil for what is not encoded.
  var made: EncodedForm? {
    guard case .encoded(let template) = self, let format = template.caps(ofElement: "encoded")?.formats.first else {
      return nil
    }
    return EncodedForm(codec: format.spoken, dimensions: template.frameSize)
  }
}

extension FilledTemplate {
  /// Of the frames that its encoder gets, where it says so: the last caps of raw video in it.
  fileprivate var frameSize: Dimensions? {
    let formats = description.split(whereSeparator: \.isWhitespace).flatMap { CapsText(String($0)).formats }
    let sizes = formats.filter { $0.mediaType == "video/x-raw" }.compactMap { format -> Dimensions? in
      guard let width = format.fields["width"]?.first.flatMap({ Int32($0) }),
        let height = format.fields["height"]?.first.flatMap({ Int32($0) })
      else { return nil }
      return Dimensions(width: width, height: height)
    }
    return sizes.last
  }
}

/// When a frame is shown, and when it is decoded where that is not the same, since the job's beginning.
struct FeedTime: Sendable {
  var shown: Duration
  var decoded: Duration?
  /// Whether nobody sent it, as far as that is known.
  var isStandIn = false
}

/// Hands what comes out of a line to all who want it.
private final class FeedHub: Sendable {
  private struct State {
    var takers: [FeedLine.Taker] = []
    var pace: KeyframePace
    /// Why nothing comes any more.
    var failure: LiveKitError?
  }
  private let state: Locked<State>
  /// Where nobody says one.
  private let keyframeInterval: Duration?
  /// Nanoseconds.
  private let began = Atomic(Int64(0))

  init(lead: Duration, keyframeInterval: Duration?) {
    state = Locked(State(pace: KeyframePace(lead: lead)))
    self.keyframeInterval = keyframeInterval
  }

  /// The moment of the job from which the encoder counts.
  var beginning: Duration { .nanoseconds(began.load(ordering: .relaxed)) }
  func begin(at time: Duration) { began.store(time.nanoseconds, ordering: .relaxed) }

  func add(_ taker: FeedLine.Taker) {
    change { takers in
      takers.removeAll { $0.id == taker.id }
      takers.append(taker)
    }
    if let failure { taker.fail(failure) }
  }

  var failure: LiveKitError? { state.withLock { $0.failure } }

  var isEmpty: Bool { state.withLock { $0.takers.isEmpty } }
  func isOnly(for id: ObjectIdentifier) -> Bool {
    state.withLock { state in state.takers.allSatisfy { $0.id == id } }
  }

  func remove(_ id: ObjectIdentifier) -> Bool {
    change { $0.removeAll { $0.id == id } }
    return state.withLock { $0.takers.isEmpty }
  }

  private func change(_ body: (inout [FeedLine.Taker]) -> Void) {
    state.withLock { state in
      body(&state.takers)
      state.pace.interval = state.takers.compactMap(\.keyframeInterval).min() ?? keyframeInterval
    }
  }

  var hasBegun: Bool { state.withLock { $0.pace.hasBegun } }

  func awaitKeyframe(from time: Duration) -> Duration { state.withLock { $0.pace.await(from: time) } }

  func isKeyframeDue(at time: Duration) -> Bool { state.withLock { $0.pace.isDue(at: time) } }

  /// The same for what is sent, which is seen as it comes.
  func isKeyframeDue(behind frame: MediaBuffer, at time: Duration) -> Bool {
    state.withLock { state in
      if !frame.isDelta { state.pace.made(at: time) }
      return state.pace.isDue(at: time)
    }
  }

  func deliver(_ media: MediaBuffer, _ time: FeedTime) {
    for taker in state.withLock({ $0.takers }) { taker.take(media, time) }
  }

  func fail(_ error: LiveKitError) {
    let takers = state.withLock { state in
      state.failure = state.failure ?? error
      return state.takers
    }
    for taker in takers { taker.fail(error) }
  }

  /// On the encoder's streaming thread. What an encoder puts before the first moment is its run-in, which decoders do
  /// without; a decoding time before it, which reordered frames begin with, is the first moment.
  /// - Returns: from when on the encoder is to be asked for a keyframe now, by its own time; nil where it is not.
  func deliver(encoded media: MediaBuffer) -> Duration? {
    guard let own = media.pts.map({ Duration.nanoseconds($0.nanoseconds) }), own >= .zero else { return nil }
    let (beginning, shown) = (beginning, own + beginning)
    let awaited: Duration? = media.isDelta ? nil : state.withLock { $0.pace.made(at: shown) }
    let decoded = media.dts.map { max(Duration.nanoseconds($0.nanoseconds), .zero) + beginning }
    deliver(media, FeedTime(shown: shown, decoded: decoded))
    return awaited.map { $0 - beginning }
  }
}
