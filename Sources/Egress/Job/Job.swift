import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates

/// A source, what is made of it, and where that goes. Destinations that want the same share what makes it. Whoever adds,
/// changes and ends them does so one after the other.
final class Job: Sendable {
  /// What is known of the source's video when a destination comes.
  struct Video: Sendable {
    /// As it is sent; nil while nothing comes.
    var codec: String?
    /// As it was published.
    var size: Dimensions?
    /// Frames a second of what is mixed; nil for what comes as it is sent.
    var framerate: Int?
  }

  let media: JobMedia
  let onKeyframeNeeded: @Sendable () -> Void
  private let onChange: @Sendable () -> Void
  let state = Locked((lines: [FeedLine](), destinations: [JobDestination]()))

  /// - Parameters:
  ///   - beginsWithVideo: whether the first moment is a frame; otherwise black stands in until one comes.
  ///   - duration: of all of it; nil without a limit.
  ///   - onKeyframeNeeded: called when whoever sends the video is to send a keyframe.
  ///   - onChange: called at the first moment, and when a destination cannot go on.
  init(
    beginsWithVideo: Bool, duration: Duration? = nil, onKeyframeNeeded: @escaping @Sendable () -> Void,
    onChange: @escaping @Sendable () -> Void
  ) {
    (self.onKeyframeNeeded, self.onChange) = (onKeyframeNeeded, onChange)
    media = JobMedia(
      beginsWithVideo: beginsWithVideo, duration: duration, onKeyframeNeeded: onKeyframeNeeded, onBegin: onChange)
  }

  // MARK: Destinations

  /// Adds a destination, which is written from now on: where the job has begun, from the next keyframe on, which is asked
  /// for, with times that begin at zero.
  /// - Parameters:
  ///   - factory: with the values that were set for it.
  ///   - claim: of its file.
  ///   - reconnectFor: how long its server may be away, where it is none.
  ///   - parts: how much each of its files holds; nil for one file.
  ///   - captions: beside its first file; nil for none.
  func add(
    _ destination: Destination, planner: OutputPlanner, plan: OutputPlan, video: Video, factory: PipelineFactory,
    claim: FileClaim? = nil, reconnectFor: Duration = RecordingOptions.usualReconnection, parts: PartLimit? = nil,
    captions: DestinationCaptions.Start? = nil
  ) throws(LiveKitError) -> JobDestination {
    do throws(LiveKitError) {
      var lines = try self.lines(of: plan.voices, plan, factory)
      for (kind, feed) in plan.feeds {
        lines[OutputInput(kind)] = try line(kind, feed, of: plan.read, video, factory)
      }
      let added = try JobDestination(
        destination, planner: planner, plan: plan, lines: lines, of: media, factory: factory, claim: claim,
        reconnectFor: reconnectFor, parts: parts, captions: captions, onChange: onChange)
      state.withLock { $0.destinations.append(added) }
      if media.origin != nil, let line = lines[.video] {
        media.blackenAnew(line)
        line.requestKeyframe()
      }
      return added
    } catch {
      dropIdleLines()
      throw error
    }
  }

  /// Ends a destination alone: it gets nothing any more, and what only it needed is taken out. The others go on.
  /// - Returns: what ends when it is completed and closed.
  func end(_ destination: JobDestination) -> Task<Void, Never> {
    destination.leaveLines(media)
    state.withLock { state in state.destinations.removeAll { $0 === destination } }
    let stopping = dropIdleLines()
    return Task {
      await destination.finish()
      await stopping.value
    }
  }

  /// Whether a destination wants a kind decoded, or not.
  /// - Parameter voice: of whom alone; nil for all.
  func wants(_ kind: Track.Kind, voice: Int? = nil, isRaw: Bool) -> Bool {
    state.withLock { state in
      state.lines.contains { $0.kind == kind && $0.voice == voice && $0.form.isRaw == isRaw }
    }
  }

  /// Has what arrives of a track written, in one form.
  /// - Parameters:
  ///   - isRaw: decoded, and not as it was sent.
  ///   - onFailure: told why nothing comes for a while, after which it is tried again; on any thread.
  func consume(
    _ track: IncomingMedia, _ kind: Track.Kind, isRaw: Bool, onFailure: @escaping @Sendable (LiveKitError) -> Void
  ) throws(LiveKitError) -> MediaConsumer {
    try track.consume(isRaw: isRaw, onFailure: onFailure) { [media] in media.write($0, kind, isRaw: isRaw) }
  }

  /// The lines that have an encoder.
  var encoders: [FeedLine] { state.withLock { $0.lines.filter(\.isEncoded) } }

  // MARK: Voices

  /// Has a destination go on in another part as soon as one may begin, where somebody has no track in it; called again and
  /// again while it runs.
  /// - Parameter voices: all that there are, of which earlier ones stay.
  /// - Throws: why none can begin, or not with them; all goes on as before.
  func give(_ destination: JobDestination, _ voices: [Voice]) throws(LiveKitError) {
    do throws(LiveKitError) {
      try destination.changeIfFree { destination throws(LiveKitError) in
        destination.askAgain()
        let new = voices.filter { destination.lines[.voice($0.number)] == nil }
        if let plan = destination.plan(adding: voices, media) {
          try destination.takeOver(plan, with: try lines(of: new, plan, destination.factory), media)
        } else if destination.mayExpect(voices, media) {
          destination.expect(voices, from: try lines(of: new, destination.plan, destination.factory))
        }
        try destination.checkVoices()
      }
    } catch {
      dropIdleLines()
      throw error
    }
  }

  private func lines(
    of voices: [Voice], _ plan: OutputPlan, _ factory: PipelineFactory
  ) throws(LiveKitError) -> [OutputInput: FeedLine] {
    var lines: [OutputInput: FeedLine] = [:]
    for voice in voices {
      guard let feed = plan.voiceFeed else { continue }
      lines[.voice(voice.number)] = try line(
        .audio, voice: voice.number, feed, of: plan.read, Video(), factory)
    }
    return lines
  }

  // MARK: Another codec

  /// Has a destination that stores the video as it was sent go on with one in another codec: encoded into what it holds, or
  /// where no template makes that, as sent in another part.
  /// - Parameters:
  ///   - held: the codec that it holds.
  ///   - video: as it comes from now on.
  /// - Returns: the name of the encode template, or the part that it goes on in.
  /// - Throws: why there is neither.
  func change(
    _ destination: JobDestination, from held: String, to track: TrackTraits, _ video: Video
  ) throws(LiveKitError) -> (encoder: String?, part: Destination?) {
    guard let old = destination.lines[.video] else { return (nil, nil) }
    let encoder: String
    do throws(LiveKitError) { encoder = try destination.planner.encoder(for: track, continuing: held) } catch {
      // Another part would hold spatial layers as badly.
      if track.codec == held { throw error }
      let next = try destination.change { (destination) throws(LiveKitError) -> Destination in
        try part(of: destination, track, video, old)
      }
      return (nil, next)
    }
    try encode(destination, by: encoder, video, inPlaceOf: old)
    return (encoder, nil)
  }

  /// Has a destination encode the video that it was to store as it is sent, since nothing comes that it could begin with.
  /// - Parameter held: the codec that it holds.
  /// - Throws: no template makes that.
  func encode(_ destination: JobDestination, in held: String, size: Dimensions?) throws(LiveKitError) {
    guard let old = destination.lines[.video], old.form == .asSent else { return }
    let encoder = try destination.planner.encoder(for: TrackTraits(codec: nil), continuing: held)
    try encode(destination, by: encoder, Video(codec: nil, size: size), inPlaceOf: old)
  }

  private func encode(
    _ destination: JobDestination, by encoder: String, _ video: Video, inPlaceOf old: FeedLine
  ) throws(LiveKitError) {
    var video = video
    video.size = media.size(on: old) ?? video.size
    let feed = Feed(.encoded(by: encoder), reason: "")
    let line = try line(
      .video, feed, of: destination.planner.read, video, destination.factory, inPlaceOf: old)
    destination.change { $0.feed(.video, from: line, media) }
    if old.remove(ObjectIdentifier(destination)) { dropIdleLines() }
  }

  private func part(
    of destination: JobDestination, _ track: TrackTraits, _ video: Video, _ line: FeedLine
  ) throws(LiveKitError) -> Destination {
    var tracks = [Track.Kind.video: track]
    if destination.has(.audio) { tracks[.audio] = TrackTraits(codec: "opus") }
    let plan = try destination.planner.plan(tracks)
    let next = try destination.nextPart
    try destination.takeOver(plan, at: next)
    media.change(line, to: FrameRepeater(asSent: video.codec, size: video.size))
    return next
  }

  // MARK: Other templates

  /// Has a destination go on with its templates, which have changed; what they do not change goes on, too. Destinations that
  /// share an encoder share the next one. Call `begin(renewalsOf:)` once all of them are there.
  /// - Returns: false where something else is about to take over: it is to be tried again.
  func renew(
    _ destination: JobDestination, _ next: JobDestination.Setup, _ changed: [TemplateName], _ video: Video
  ) throws(LiveKitError) -> Bool {
    do throws(LiveKitError) {
      let fed = try lines(of: next.plan, besides: changed, video, destination)
      let isRenewed =
        try destination.changeIfFree { (destination) throws(LiveKitError) -> Bool in
          try destination.renew(next, changed, fed: fed, media)
        } ?? false
      guard isRenewed else {
        dropIdleLines()
        return false
      }
      if let line = fed[.video] { media.blackenAnew(line) }
      return true
    } catch {
      dropIdleLines()
      throw error
    }
  }

  /// Has what `renew` has made take over: destinations that share an encoder go on at the same frame of it. It makes
  /// keyframes that nobody has asked for, so that none of them may be told sooner than another one.
  func begin(renewalsOf destinations: [JobDestination]) {
    let waiting = destinations.compactMap { destination in destination.awaitedEncoder.map { (destination, $0) } }
    for sharing in Dictionary(grouping: waiting, by: { $1.line.id }).values {
      // Of two encoders both get the same frames for a moment: then one ends, and the other one begins.
      let lead = sharing.contains { $1.isNew } ? Self.lead : .zero
      guard let moment = sharing[0].1.line.requestKeyframe(from: media.length + lead) else { continue }
      for (destination, _) in sharing { destination.beginRenewal(at: moment, media) }
    }
  }
  private static let lead = Duration.milliseconds(200)

  /// What feeds a destination by another plan: the lines that do so now where their templates have not changed.
  private func lines(
    of plan: OutputPlan, besides changed: [TemplateName], _ video: Video, _ destination: JobDestination
  ) throws(LiveKitError) -> [OutputInput: FeedLine] {
    var fed: [OutputInput: FeedLine] = [:]
    for (input, feed) in plan.inputs {
      let old = destination.lines[input]
      let isChanged = feed.encoder.map { changed.contains(TemplateName(.encode, $0)) } ?? false
      if let old, old.form.isOf(feed), !isChanged {
        fed[input] = old
      } else {
        fed[input] = try line(
          input.kind, voice: input.voice, feed, of: plan.read, video, destination.factory, inPlaceOf: old)
      }
    }
    return fed
  }

  /// Takes out lines that fed a destination before it changed.
  func retireLines() {
    let destinations = state.withLock { $0.destinations }
    if destinations.reduce(false, { $1.retireLines() || $0 }) { dropIdleLines() }
  }

  // MARK: Lines

  /// The line for a feed, which may be there already.
  private func line(
    _ kind: Track.Kind, voice: Int? = nil, _ feed: Feed, of templates: ReadTemplates, _ video: Video,
    _ factory: PipelineFactory, inPlaceOf old: FeedLine? = nil
  ) throws(LiveKitError) -> FeedLine {
    let size = video.size?.encodable
    let template = try feed.encoder.map { (name) throws(LiveKitError) in try templates.encoder(name) }
    let keyframes = template.flatMap {
      EncoderKeyframes($0, framerate: video.framerate, besides: factory.overrides)
    }
    let values = video.values(for: kind == .video ? template : nil, besides: factory.overrides)
      .merging(keyframes?.values ?? [:]) { $1 }
    let form = try form(of: feed, template, values, factory)
    let known = state.withLock { state in
      state.lines.first { $0.kind == kind && $0.voice == voice && $0.form == form && !$0.hasFailed }
    }
    if let known { return known }
    let silence = kind == .audio ? AudioStandIn(isRaw: form.isRaw) : nil
    let line = try FeedLine(
      kind, voice: voice, form, caps: silence?.caps, keyframeInterval: keyframes?.interval, factory: factory,
      onKeyframeNeeded: onKeyframeNeeded)
    let frames = FrameRepeater(asSent: form.isRaw ? nil : video.codec, size: size)
    media.add(inPlaceOf: old) { MediaLine(line, frames: frames, silence: silence?.block, before: $0) }
    state.withLock { $0.lines.append(line) }
    return line
  }

  /// - Parameter template: that encodes; nil for none.
  private func form(
    of feed: Feed, _ template: Template?, _ values: [String: String], _ factory: PipelineFactory
  ) throws(LiveKitError) -> FeedLine.Form {
    guard let template else { return feed.way == .raw ? .raw : .asSent }
    return .encoded(
      try LiveKitError.wrapping { () throws(PipelineFailure) in try factory.fill(template, values: values) })
  }

  /// - Returns: what ends when they have stopped.
  @discardableResult
  func dropIdleLines() -> Task<Void, Never> {
    let idle = state.withLock { state in
      let idle = state.lines.filter(\.isIdle)
      state.lines.removeAll(where: \.isIdle)
      return idle
    }
    for line in idle { media.remove(line) }
    return Task { for line in idle { await line.stop() } }
  }

  // MARK: The end

  /// Makes all destinations equally long, and completes and closes them; each knows what came of it.
  /// - Parameter time: until when they are to last where nothing comes any more.
  /// - Returns: why some are not complete, in the order of the destinations; nil for one that is.
  @discardableResult
  func finish(at time: MediaTime) async -> [LiveKitError?] {
    media.complete(at: time)
    let (lines, destinations) = state.withLock { ($0.lines, $0.destinations) }
    // Side by side: a server or a disk that does not answer holds up no file but its own.
    await Self.each(of: lines) { await $0.drain() }
    await Self.each(of: destinations) { await $0.finish() }
    await Self.each(of: lines) { await $0.stop() }
    return destinations.map(\.failure)
  }

  private static func each<One: Sendable>(
    of all: [One], _ work: @escaping @Sendable (One) async -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in for one in all { group.addTask { await work(one) } } }
  }
}
