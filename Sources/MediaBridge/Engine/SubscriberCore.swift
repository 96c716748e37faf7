import Logging
import MediaCore
import PeerTransport
import RTP
import SDP

/// Sorts what arrives on the subscriber's connection to the tracks, and sends their feedback. Lives on its loop.
final class SubscriberCore {
  private let loop: TransportLoop
  var peer: PeerConnection?
  private var router = PacketRouter()
  private var arrivals = ArrivalFeedback(sender: SSRC(1))
  private var bandwidth = BandwidthFeedback(sender: SSRC(1))
  /// When feedback is looked for next; without anything to say the thread sleeps.
  private var alarm: (time: MediaTime, timer: LoopTimer)?
  private var streamTimer: LoopTimer?
  private static let streamInterval = Duration.milliseconds(500)
  private var roundTrips = RoundTripSchedule()
  /// As it was measured last.
  private var roundTrip: Duration?
  private var isStopped = false
  private var isFlushing = false
  private let logger: Logger
  /// Told of how narrow the way to us is, in bits a second, and of nil when it is not any more.
  private let onLimit: (Int?) -> Void
  private var isLimited = false

  init(loop: TransportLoop, logger: Logger, onLimit: @escaping (Int?) -> Void) {
    (self.loop, self.logger, self.onLimit) = (loop, logger, onLimit)
  }

  /// What the newest offer says, and which track each section carries.
  func update(_ sections: [(section: NegotiatedSection, trackSid: String)], _ new: [TrackReception]) {
    for reception in new {
      reception.onRequest = { [weak self] in self?.setAlarm() }
      if let roundTrip { reception.note(roundTrip: roundTrip) }
    }
    let earlier = router.receptions
    for reception in router.update(sections, new) { reception.complete() }
    for reception in new { earlier[reception.trackSid]?.handOver(to: reception) }
    arrivals.extensionID = sections.lazy.compactMap { $0.section.extensionID(HeaderExtensionURI.transportCC) }.first
    // Whoever is told of arrivals estimates by itself.
    bandwidth.extensionID = arrivals.extensionID == nil ? sections.lazy.compactMap(\.section.sendTimeID).first : nil
    poll()
    watchStreams()
  }

  /// Whether a track's media is to come.
  func expect(_ isExpected: Bool, of trackSid: String) { router.receptions[trackSid]?.expect(isExpected, at: .now) }

  func noteLoss(of trackSid: String) { router.receptions[trackSid]?.noteLoss() }

  /// Looks now and then whether media stays away.
  private func watchStreams() {
    guard streamTimer == nil, !router.receptions.isEmpty, !isStopped else { return }
    let bound = LoopBound(self, on: loop)
    streamTimer = loop.after(Self.streamInterval) {
      bound.value.streamTimer = nil
      let now = MediaTime.now
      for reception in bound.value.router.receptions.values { reception.pollStream(at: now) }
      bound.value.tellRoundTrip(at: now)
      bound.value.watchStreams()
    }
  }

  /// Whoever asks for lost packets has to know how long they take to come.
  private func tellRoundTrip(at time: MediaTime) {
    guard roundTrips.isDue(at: time, isKnown: roundTrip != nil), let measured = peer?.measureRoundTripOnLoop() else {
      return
    }
    roundTrip = measured
    for reception in router.receptions.values { reception.note(roundTrip: measured) }
    setAlarm()
  }

  func stop() {
    isStopped = true
    alarm?.timer.cancel()
    streamTimer?.cancel()
    for reception in router.removeAll() { reception.complete() }
  }

  func receive(_ packet: RTPPacket, at time: MediaTime) {
    arrivals.note(packet, at: time)
    bandwidth.note(packet, at: time)
    if roundTrips.noteMedia() { tellRoundTrip(at: time) }
    guard let reception = router.reception(of: packet) else { return }
    reception.receive(packet, at: time)
    flushLater()
    if reception.isUrgent(at: time) { sendFeedback(of: reception, at: time) }
  }

  /// Packets that wait in the socket together travel on together.
  private func flushLater() {
    guard !isFlushing else { return }
    isFlushing = true
    let bound = LoopBound(self, on: loop)
    loop.runBeforeWaiting {
      bound.value.isFlushing = false
      for reception in bound.value.router.receptions.values { reception.flush() }
      bound.value.tellBandwidth()
      bound.value.setAlarm()
      bound.value.lingerInsideFrame()
    }
  }

  /// A sender spreads a frame over some milliseconds. To wake for each of its packets costs more than what is done with
  /// them, so those that follow within a moment are taken together; what is complete has gone on before.
  private func lingerInsideFrame() {
    let now = MediaTime.now
    guard router.receptions.values.contains(where: { $0.feed?.awaitsMore(at: now) == true }) else { return }
    loop.linger(for: Self.moment)
  }

  /// As much as the end of a frame may come later for that.
  private static let moment = Duration.milliseconds(1)

  func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    for case .senderReport(let report) in reports { router[report.ssrc]?.receive(report, at: time) }
  }

  private func sendFeedback(of reception: TrackReception, at time: MediaTime) {
    let reports = reception.poll(at: time)
    for case .pictureLossIndication in reports {
      logger.debug("keyframe requested", metadata: ["track": "\(reception.trackSid)"])
    }
    peer?.send(reports)
  }

  private func tellBandwidth() {
    peer?.send(bandwidth.poll(at: .now, sources: router.receptions.values.compactMap(\.videoSource)))
    let limit = bandwidth.limit
    guard isLimited != (limit != nil) else { return }
    isLimited = limit != nil
    onLimit(limit)
  }

  private func poll() {
    guard let peer else { return }
    let now = MediaTime.now
    for reception in router.receptions.values { sendFeedback(of: reception, at: now) }
    peer.send(arrivals.poll(at: now))
    setAlarm()
  }

  /// Sees to it that `poll` runs when something is due, and not before: what was due when the alarm was set has often been
  /// settled since by a packet.
  private func setAlarm() {
    var next = arrivals.nextDeadline
    for reception in router.receptions.values {
      if let deadline = reception.nextDeadline { next = min(next ?? deadline, deadline) }
    }
    guard next != alarm?.time else { return }
    alarm?.timer.cancel()
    alarm = nil
    guard let next, !isStopped else { return }
    let bound = LoopBound(self, on: loop)
    let timer = loop.after(next - MediaTime.now) {
      bound.value.alarm = nil
      bound.value.poll()
    }
    alarm = (next, timer)
  }
}

/// When to measure the round trip: with the first packet of media, and then once a second while media comes, since otherwise
/// nothing is lost, and a connection that is quiet is to sleep.
private struct RoundTripSchedule {
  private static let interval = Duration.seconds(1)
  private var hasMedia = false
  private var last: MediaTime?

  /// - Returns: whether it is the first.
  mutating func noteMedia() -> Bool {
    hasMedia = true
    return last == nil
  }

  /// - Parameter isKnown: until then one that is lost is not to cost a second.
  mutating func isDue(at time: MediaTime, isKnown: Bool) -> Bool {
    guard hasMedia, last.map({ !isKnown || time - $0 >= Self.interval }) ?? true else { return false }
    (hasMedia, last) = (false, time)
    return true
  }
}

extension NegotiatedSection {
  /// The extension that says when a packet was sent, where the other side wants to be told what its way takes.
  fileprivate var sendTimeID: UInt8? {
    guard formats.contains(where: { $0.codec.feedback.contains("goog-remb") }) else { return nil }
    return extensionID(HeaderExtensionURI.absSendTime)
  }
}
