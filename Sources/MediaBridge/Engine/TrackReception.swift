import MediaCore
import MediaPipelines
import RTP

/// The receiving end of one track, from the socket to the pipeline. Lives on the transport's loop.
final class TrackReception {
  private let track: OfferedTrack
  private let clock: ParticipantClock
  private(set) var receiver: RTPReceiver
  private var payloads: PayloadReader
  private var lastTimestamp: UInt32?
  private var backlog: PacketBacklog
  /// Empty until there is a pipeline; another one comes behind the one that it is to take over from.
  private var feeds: [PipelineFeed] = []
  private var decoding: DecodingCounter
  /// Whether there are renderers, among them the tiles and voices of a mix, who have what comes while it comes.
  private var isLive = false { didSet { for feed in feeds { feed.setLive(isLive) } } }
  private var flow = FirstFlow()
  /// Whether its media comes, and who is told when that changes.
  private var watch: (timeout: MediaTimeout, onChange: (MediaTimeout.Change) -> Void)
  /// Told when `nextDeadline` may have changed without a packet.
  var onRequest: () -> Void = {}

  /// - Parameters:
  ///   - onOtherCodec: told once when packets of another codec than `track.codec` come.
  ///   - onStream: told when media stays away, or comes back.
  init(
    _ track: OfferedTrack, clock: ParticipantClock, configuration: RTPReceiver.Configuration,
    onOtherCodec: @escaping (String) -> Void, onStream: @escaping (MediaTimeout.Change) -> Void
  ) {
    self.track = track
    self.clock = clock
    receiver = RTPReceiver(configuration: configuration)
    payloads = PayloadReader(track, onOtherCodec: onOtherCodec)
    backlog = PacketBacklog(isVideo: track.isVideo)
    decoding = DecodingCounter(trackSid: track.sid, isVideo: track.isVideo, clock: clock)
    watch = (MediaTimeout(at: .now), onStream)
  }

  var trackSid: String { track.sid }
  /// Nil until there is a pipeline.
  var feed: PipelineFeed? { feeds.first }
  /// The stream, where it is known and of video.
  var videoSource: SSRC? { track.isVideo ? receiver.ssrc : nil }
  /// In which form its frames are sent.
  var form: FrameForm { payloads.form }
  /// Of what the decoder for renderers makes.
  var meter: DecoderMeter { decoding.meter }

  var statistics: ReceptionStatistics {
    ReceptionStatistics(
      rtp: payloads.read(of: receiver.statistics), framesReceived: decoding.arrived, framesDropped: decoding.dropped,
      isFlowing: flow.hasBegun, ssrc: receiver.ssrc, rtxSSRC: receiver.rtxSSRC, mid: track.section.mid,
      codec: track.codec, payloadType: track.format?.payloadType)
  }

  // MARK: Packets

  func receive(_ packet: RTPPacket, at time: MediaTime) {
    let before = receiver.discontinuities
    let received = receiver.receive(packet, at: time)
    if receiver.discontinuities != before { restart() }
    for packet in received {
      guard let packet = payloads.readable(packet, at: time) else { continue }
      // What only probes or keeps a path open is no media.
      if !packet.isPaddingOnly { noteMedia(packet, at: time) }
      deliver(packet, at: time)
    }
  }

  /// The same track in the codec that its packets have turned out to be in goes on with those that came meanwhile.
  func handOver(to next: TrackReception) {
    for arrived in payloads.takeUnread() { next.receive(arrived.packet, at: arrived.time) }
  }

  private func noteMedia(_ packet: RTPPacket, at time: MediaTime) {
    let change = watch.timeout.arrived(at: time, isNew: payloads.isNewest, beginsAnew: beginsAnew(packet))
    if let change { watch.onChange(change) }
  }

  private func restart() {
    payloads.restart()
    for feed in feeds { feed.restart() }
  }

  /// Whether somebody can begin with it.
  private func beginsAnew(_ packet: RTPPacket) -> Bool { !track.isVideo || payloads.beginsKeyframe(packet) }

  private func deliver(_ packet: RTPPacket, at time: MediaTime) {
    let beginsFrame = packet.timestamp != lastTimestamp
    lastTimestamp = packet.timestamp
    // The first packet of a frame tells as much as all of them.
    if beginsFrame { clock.observe(trackSid, timestamp: packet.timestamp, at: time) }
    let beginsAnew = beginsAnew(packet)
    decoding.note(packet, beginsAnew: beginsAnew, at: time)
    // Ahead of whoever waits for the first keyframe.
    payloads.noteForm(packet, beginsKeyframe: beginsAnew)
    if beginsAnew {
      for handler in flow.begin() { handler() }
      for feed in feeds { feed.noteKeyframe(packet.timestamp) }
    }
    guard let feed else { return backlog.add(packet, beginsAnew: beginsAnew, at: time) }
    // A feed may number packets anew, in their memory.
    let copies = feeds.count > 1 ? feeds.dropFirst().map { ($0, packet.copy()) } : []
    feed.add(ArrivedPacket(packet, at: time))
    for (next, copy) in copies { next.add(ArrivedPacket(copy, at: time)) }
  }

  /// Hands what `receive` took on to the pipeline.
  func flush() { for feed in feeds { feed.flush() } }

  func receive(_ report: SenderReport, at time: MediaTime) {
    // That of what is sent again says nothing of the track's own time.
    guard receiver.ssrc == nil || report.ssrc == receiver.ssrc else { return }
    receiver.receive(report, at: time)
    clock.observe(trackSid, report)
  }

  /// Calls `handler` once, when something has come that can be shown or heard.
  func onFlow(_ handler: @escaping () -> Void) { if flow.hasBegun { handler() } else { flow.handlers.append(handler) } }

  // MARK: The pipeline

  func attach(_ pipeline: ReceivePipeline, at time: MediaTime) {
    let (clock, trackSid, payloads) = (clock, trackSid, payloads)
    let new = PipelineFeed(
      pipeline, startsKeyframe: track.isVideo ? payloads.beginsKeyframe : nil,
      keyframePart: track.isVideo ? payloads.keyframePart : nil, continuesFrame: payloads.continuesFrame,
      isRepaired: receiver.configuration.usesNACK,
      onKeyframeNeeded: { [weak self] in self?.requestKeyframe(behind: $0) },
      awaitsPlace: { clock.awaitsPlace(trackSid, at: $0) }, clock: { clock.time(trackSid, of: $0) })
    new.setLive(isLive)
    feeds.append(new)
    let kept = backlog.take(at: time)
    if !kept.isEmpty {
      kept.forEach(new.add)
      flush()
      if new.nextDeadline != nil { onRequest() }
    } else if track.isVideo {
      requestKeyframe()
    }
  }

  func detach(_ pipeline: ReceivePipeline) {
    guard let index = feeds.firstIndex(where: { $0.pipeline === pipeline }) else { return }
    feeds.remove(at: index).complete()
  }

  /// No more comes of this track.
  func complete() { for feed in feeds { feed.complete() } }

  /// - Parameter isFirst: whether the decoder begins now, and so with what is kept.
  func decodingBegins(isFirst: Bool) {
    isLive = true
    decoding.begin(with: feeds.isEmpty ? backlog.frames : isFirst ? nil : [])
  }

  func decodingEnds() {
    isLive = false
    decoding.end()
  }

  // MARK: The stream

  /// Whether media is to come.
  func expect(_ isExpected: Bool, at time: MediaTime) {
    watch.timeout.expect(isExpected, at: time)
    receiver.isPaused = !isExpected
    onRequest()
  }

  func noteLoss() { watch.timeout.noteLoss() }

  func note(roundTrip: Duration) { receiver.note(roundTrip: roundTrip) }

  func pollStream(at time: MediaTime) {
    backlog.dropOld(at: time)
    if let change = watch.timeout.poll(at: time) { watch.onChange(change) }
  }

  /// - Note: where a pipeline asks while it gets what is behind a lost packet, a keyframe that is newer than that will do.
  func requestKeyframe() { requestKeyframe(behind: feeds.lazy.compactMap(\.skipped).first) }

  private func requestKeyframe(behind number: SequenceNumber?) {
    receiver.requestKeyframe(behind: number)
    onRequest()
  }

  func poll(at time: MediaTime) -> [RTCPPacket] {
    var hasSkipped = false
    for feed in feeds where feed.poll(at: time, repairTime: receiver.repairTime) { hasSkipped = true }
    if hasSkipped { abandonLost() }
    return receiver.poll(at: time)
  }

  /// What every feed has gone on without is not asked for any more.
  private func abandonLost() {
    let positions = feeds.compactMap(\.position)
    guard positions.count == feeds.count, let oldest = positions.min(by: { $0.distance(from: $1) < 0 }) else { return }
    receiver.abandon(before: oldest)
  }

  var nextDeadline: MediaTime? {
    guard let deadline = feeds.lazy.compactMap(\.nextDeadline).min() else { return receiver.nextDeadline }
    return min(deadline, receiver.nextDeadline ?? deadline)
  }
  func isUrgent(at time: MediaTime) -> Bool { receiver.isUrgent(at: time) }
}

/// Who waits for the first media that can be shown or heard.
private struct FirstFlow {
  private(set) var hasBegun = false
  var handlers: [() -> Void] = []

  /// - Returns: who is to be told.
  mutating func begin() -> [() -> Void] {
    hasBegun = true
    defer { handlers = [] }
    return handlers
  }
}
