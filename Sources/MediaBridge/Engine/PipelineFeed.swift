import GStreamerKit
import MediaCore
import MediaPipelines
import RTP

/// Hands a track's packets to its pipeline, in their order where the pipeline leaves that to us, and follows how long a
/// lost packet is worth waiting for. Lives on the transport's loop.
final class PipelineFeed {
  let pipeline: ReceivePipeline
  /// When the moment of an RTP timestamp is.
  private let clock: (UInt32) -> MediaTime?
  /// Whether that is not known yet of the audio that came last.
  private let awaitsPlace: (MediaTime) -> Bool
  private let startsKeyframe: ((RTPPacket) -> Bool)?
  private var isAudio: Bool { startsKeyframe == nil }
  private let keyframePart: ((RTPPacket) -> KeyframePart?)?
  private let continuesFrame: ((RTPPacket) -> Void)?
  /// Of the packet before.
  private var timestamp: UInt32?
  private let onKeyframeNeeded: (SequenceNumber) -> Void
  /// Nil where the pipeline puts packets in order.
  private var sequencer: PacketSequencer?
  /// For a lost packet; nil where nothing waits.
  private var wait: RepairWait?
  // Kept for their memory.
  private var ready: [ArrivedPacket] = []
  /// Behind the sequencer, for a server may send packets in the wrong order just where it changes over.
  private var batch: FrameBatch
  private var outgoing: [AppSource.Packet] = []
  /// The newest that was placed, by its RTP timestamp.
  private var newest: (timestamp: UInt32, time: MediaTime)?
  /// Whether what comes cannot be decoded before a keyframe, since something before it was lost.
  private var awaitsKeyframe: Bool
  /// The newest packet that was lost or left out, until what is behind it has been handed on.
  private(set) var skipped: SequenceNumber?
  private var cutFrame: CutFrame
  private var hasSkipped = false
  /// Nil for video, and where the pipeline sees to losses.
  private var audio: AudioContinuity?

  /// - Parameters:
  ///   - startsKeyframe: whether a keyframe, or another slice of one, begins with a packet; nil for audio.
  ///   - keyframePart: what a packet has of a keyframe's beginning; nil for audio.
  ///   - continuesFrame: edits a packet that goes on with the frame of the one before; nil where none has to be.
  ///   - isRepaired: whether lost packets are asked for.
  ///   - onKeyframeNeeded: told of a number behind which a keyframe has to come.
  ///   - awaitsPlace: whether it is being found out, at that time, where the audio belongs that came last.
  init(
    _ pipeline: ReceivePipeline, startsKeyframe: ((RTPPacket) -> Bool)?,
    keyframePart: ((RTPPacket) -> KeyframePart?)? = nil, continuesFrame: ((RTPPacket) -> Void)? = nil, isRepaired: Bool,
    onKeyframeNeeded: @escaping (SequenceNumber) -> Void = { _ in },
    awaitsPlace: @escaping (MediaTime) -> Bool = { _ in false }, clock: @escaping (UInt32) -> MediaTime?
  ) {
    self.pipeline = pipeline
    (self.startsKeyframe, self.keyframePart, self.continuesFrame) = (startsKeyframe, keyframePart, continuesFrame)
    self.onKeyframeNeeded = onKeyframeNeeded
    self.awaitsPlace = awaitsPlace
    self.clock = clock
    cutFrame = CutFrame(keyframePart: pipeline.awaitsKeyframes ? keyframePart : nil)
    batch = FrameBatch(startsKeyframe: startsKeyframe)
    awaitsKeyframe = startsKeyframe != nil
    sequencer = pipeline.takesSequence ? PacketSequencer() : nil
    audio = pipeline.takesSequence && startsKeyframe == nil ? AudioContinuity() : nil
    let loss: RepairWait.Loss = startsKeyframe != nil ? .video : isRepaired ? .audio : .unrepaired
    wait = pipeline.longestWait.map { RepairWait(loss, limit: $0) }
    if let wait { pipeline.wait(for: wait.current) }
    // What came before the first packet may be missing as well.
    cutFrame.begin()
  }

  /// A keyframe, or another slice of one, begins with a packet of that timestamp; to be called ahead of `add` for it.
  func noteKeyframe(_ timestamp: UInt32) { cutFrame.noteKeyframe(timestamp) }

  /// Takes the packet that came next; `flush` hands it on.
  func add(_ arrived: ArrivedPacket) {
    if sequencer?.insert(arrived, into: &ready) == nil { ready.append(arrived) }
    batchReady()
    if awaitsKeyframe, sequencer?.waiting ?? 0 > 0 { skipToKeyframe() }
  }

  /// No repair of what is older than a whole keyframe is worth waiting for where nothing can be decoded before it. LiveKit's
  /// server sends none, either: it repeats no packets from a request for a keyframe on until it has sent one.
  private func skipToKeyframe() {
    guard let keyframePart, let begin = sequencer?.wholeKeyframe(keyframePart) else { return }
    while let next = sequencer?.next, next.distance(from: begin) < 0, let due = sequencer?.deadline(wait: .zero),
      let gap = sequencer?.skip(at: due, wait: .zero, into: &ready)
    { goOn(behind: gap) }
  }

  /// Hands on what is complete, of audio two packets at once: to wake all that is behind costs more than a packet.
  func flush() { if holdEnd == nil { batch.flush(push) } }

  /// Hands on what waits for more, since no more comes.
  func complete() {
    while let due = sequencer?.deadline(wait: .zero) { skipGaps(at: due, waiting: .zero) }
    flushBatch()
  }

  /// Hands on a frame, or a packet of audio, that is not whole.
  private func flushBatch() { batch.flush(isWhole: false, push) }

  /// Whether nothing can be done with what came last before more comes, which is soon.
  func awaitsMore(at time: MediaTime) -> Bool { batch.awaitsMore(at: time) }

  /// Until when audio stays here at the longest; nil where nothing holds it up.
  private var holdEnd: MediaTime? { isAudio ? batch.times.flatMap { holdEnd(at: $0.last) } : nil }

  private func holdEnd(at time: MediaTime) -> MediaTime? {
    // While video is handed on the batch is in use, and who asks for a keyframe then looks at deadlines.
    guard isAudio, let first = batch.times?.first else { return nil }
    if audio != nil, awaitsPlace(time) { return first + Self.longestPlacing }
    return batch.hasOnePacket ? first + Self.longestHold : nil
  }

  /// For its next packet. Three packets of 20 ms: one that is lost is not waited for, and who stops to speak is heard
  /// to the end.
  private static let longestHold = Duration.milliseconds(60)
  /// Until it is known where it belongs, which takes no longer. Outputs wait longer than that for late audio.
  private static let longestPlacing = Duration.milliseconds(500)

  /// Hands on audio that has waited for long enough, or for nothing any more.
  private func flushHeld(at time: MediaTime) {
    guard isAudio, holdEnd(at: time).map({ $0 <= time }) ?? true else { return }
    flushBatch()
  }

  /// What comes now has nothing to do with what came before.
  func restart() {
    sequencer?.restart(into: &ready)
    batchReady()
    flushBatch()
    batch = FrameBatch(startsKeyframe: startsKeyframe)
    newest = nil
    awaitsKeyframe = startsKeyframe != nil
    cutFrame.begin()
  }

  /// When a missing packet, or the next one, will have been waited for long enough.
  var nextDeadline: MediaTime? {
    let repair = sequencer?.deadline(wait: waitTime)
    guard let due = holdEnd else { return repair }
    return min(repair ?? due, due)
  }

  /// Goes on without packets that were waited for long enough.
  /// - Parameter repairTime: how long a retransmission may take; nil where that is not known.
  /// - Returns: whether there were any.
  func poll(at time: MediaTime, repairTime: Duration?) -> Bool {
    if let new = wait?.follow(repairTime) { pipeline.wait(for: new) }
    flushHeld(at: time)
    skipGaps(at: time, waiting: waitTime)
    defer { hasSkipped = false }
    return hasSkipped
  }

  /// The number that is waited for next; nil where the pipeline puts packets in order, and before the first one.
  var position: SequenceNumber? { sequencer?.next }

  private func skipGaps(at time: MediaTime, waiting wait: Duration) {
    while let gap = sequencer?.skip(at: time, wait: wait, into: &ready) { goOn(behind: gap) }
  }

  private func goOn(behind gap: PacketSequencer.Gap) {
    hasSkipped = true
    flushBatch()
    if audio == nil { skip(gap) } else { audio?.lose(gap) }
    // A depayloader that sees the gap asks for a keyframe, which may have come since.
    skipped = gap.first + (gap.count - 1)
    awaitsKeyframe = startsKeyframe != nil
    cutFrame.begin()
    batchReady()
    flush()
  }

  /// Says whether somebody sees or hears what comes while it comes.
  func setLive(_ isLive: Bool) { wait?.isLive = isLive }

  /// How long a lost packet is waited for now.
  var waitTime: Duration { wait?.current ?? .zero }

  private func batchReady() {
    for arrived in ready {
      guard !cutFrame.contains(arrived.packet) else {
        skipped = arrived.packet.sequenceNumber
        // Parameter sets before it may have looked like a keyframe.
        awaitsKeyframe = true
        continue
      }
      if arrived.packet.timestamp == timestamp { continuesFrame?(arrived.packet) }
      timestamp = arrived.packet.timestamp
      if awaitsKeyframe, startsKeyframe?(arrived.packet) == true { awaitsKeyframe = false }
      if audio == nil { batch.add(arrived) } else { addAudio(arrived) }
    }
    ready.removeAll(keepingCapacity: true)
    if let cut = cutFrame.takeEnd() { onKeyframeNeeded(cut) }
  }

  /// Leaves padding out: a decoder takes a packet without contents for a lost one, and makes some audio that was never sent.
  private func addAudio(_ arrived: ArrivedPacket) {
    guard !arrived.packet.isPaddingOnly else { return }
    var arrived = arrived
    if let gap = audio?.add(&arrived.packet) {
      flushBatch()
      skip(gap)
    }
    batch.add(arrived)
  }

  private func push(_ packets: [ArrivedPacket]) {
    var last: (timestamp: UInt32, time: MediaTime)?
    for arrived in packets {
      let timestamp = arrived.packet.timestamp
      let time = last.flatMap { $0.timestamp == timestamp ? $0.time : nil } ?? place(arrived)
      // How a frame is turned is told between two pushes.
      if pipeline.tellsTurns, let last, last.timestamp != timestamp { pushOutgoing() }
      last = (timestamp, time)
      outgoing.append(AppSource.Packet(arrived.packet, at: time))
    }
    pushOutgoing()
    skipped = nil
  }

  private func pushOutgoing() {
    pipeline.push(outgoing)
    outgoing.removeAll(keepingCapacity: true)
  }

  /// A pipeline that puts packets in order places them, too: it wants to know when they came.
  private func place(_ arrived: ArrivedPacket) -> MediaTime {
    guard sequencer != nil else { return arrived.time }
    let timestamp = arrived.packet.timestamp
    var time = clock(timestamp) ?? arrived.time
    guard let newest else {
      self.newest = (timestamp, time)
      return time
    }
    guard Int32(bitPattern: timestamp &- newest.timestamp) > 0 else { return time }
    // While it is found out how late a track comes, what has waited for a repair may come to be ahead of what was before it.
    if (.zero..<Self.farBack).contains(newest.time - time) { time = newest.time + .milliseconds(1) }
    self.newest = (timestamp, time)
    return time
  }

  /// A clock that goes back as far is another one.
  private static let farBack = Duration.milliseconds(500)

  /// More than a decoder makes up for.
  private static let longestGap = 50

  private func skip(_ gap: PacketSequencer.Gap) {
    let (first, count) = (gap.first, gap.count)
    guard count <= Self.longestGap, let before = clock(gap.timestamps.before), let behind = clock(gap.timestamps.behind)
    else { return }
    let step = (behind - before) / (count + 1)
    for index in 0..<count { pipeline.skip(first + index, at: before + step * (index + 1), duration: step) }
  }
}

extension AppSource.Packet {
  fileprivate init(_ packet: RTPPacket, at time: MediaTime) {
    self.init(packet.buffer, start: packet.start, count: packet.count, dts: time)
  }
}
