public import MediaCore

/// The lower one of what delay and what loss allow, as Google's congestion control has it (draft-ietf-rmcat-gcc-02), and of
/// what the receiver says (REMB). Where the other side reports no arrivals, delay is not known, and loss is that of
/// reception reports.
public struct DelayAndLossController: CongestionController {
  /// Nobody asks for less: that would be no audio any more.
  private static let least = 30_000.0
  /// Above what is sent nothing is known; so much more is believed.
  private static let ceiling = 1.5
  private static let ceilingOffset = 10_000.0
  /// After so much silence what is sent does not get there, or nothing gets back.
  private static let silence = Duration.seconds(3)
  private static let penalty = 0.8
  /// LiveKit's server (1.13) reports no arrivals of audio. While that goes alone, reception reports are all there is.
  private static let unreported = Duration.seconds(1)

  private var packets = SentPackets()
  private var trend = DelayTrend()
  private var delay = DelayBasedRate()
  private var loss = LossBasedRate()
  private var reported = ReportedLoss()
  private var rates = Rates()
  private var heard = Heard()
  /// Of the receiver's own estimate (REMB).
  private var stated: Double?
  private var decreases = Decreases()
  private var probe: LinkProbe?
  /// Nil before arrivals are reported.
  private var probes: LinkEstimate.Probes?

  private struct Rates: Sendable {
    var sent = ByteRate(window: .seconds(1))
    /// By the clock of the other side.
    var arriving = ByteRate(window: .milliseconds(500))
    /// As of the newest packet or message.
    var newestSent = 0.0
    var newestArriving: Double?
  }

  private struct Decreases: Sendable {
    private(set) var count = 0
    /// When the newest one was. What got lost of what was sent before says nothing of what is sent since.
    private(set) var newest: MediaTime?

    mutating func note(at time: MediaTime) { (count, newest) = (count + 1, time) }
  }

  private struct Heard: Sendable {
    /// When arrivals were reported last; nil where they are not.
    var arrivals: MediaTime?
    var last: MediaTime?
    var packetsSince = 0
    var lastPenalty: MediaTime?
  }

  /// Nothing is known, and nothing limited.
  public init() {}

  public var estimate: LinkEstimate {
    let known = [delay.bitrate, loss.bitrate, stated].compactMap { $0 }.min()
    guard let known, delay.bitrate != nil || loss.bitrate != nil || known < ceiling else {
      return LinkEstimate(
        bitrate: Int(ceiling), limit: .none, decreases: decreases.count, loss: loss.share, probes: probes)
    }
    let isTried = known < ceiling * 0.99
    return LinkEstimate(
      bitrate: Int(max(known, Self.least)), limit: isTried ? .network : .application, decreases: decreases.count,
      loss: loss.share, probes: probes)
  }

  /// The most that is believed, by what passes.
  private var ceiling: Double { (rates.newestArriving ?? rates.newestSent) * Self.ceiling + Self.ceilingOffset }

  // MARK: Input

  public mutating func sent(bytes: Int, number: SequenceNumber?, at time: MediaTime) {
    let bytes = bytes + LinkEstimate.overhead
    packets.insert(bytes: bytes, number: number, at: time)
    rates.sent.add(bytes, at: time)
    heard.packetsSince += 1
    probe?.sent(bytes: bytes, at: time)
  }

  public mutating func receive(_ report: RTCPPacket, at time: MediaTime) {
    switch report {
    case .transportFeedback(let feedback): read(feedback, at: time)
    case .receiverReport(let report): read(report.blocks, at: time)
    case .senderReport(let report): read(report.blocks, at: time)
    case .receiverEstimate(let remb): read(remb, at: time)
    default: break
    }
  }

  public mutating func advance(to time: MediaTime) {
    rates.newestSent = rates.sent.rate(at: time) ?? rates.newestSent
    readProbe([], at: time)
    guard let last = heard.last, time - last > Self.silence, heard.packetsSince > 30,
      time - (heard.lastPenalty ?? last) >= .seconds(1)
    else { return }
    heard.lastPenalty = time
    if heard.arrivals != nil {
      delay.lower(by: Self.penalty, from: rates.newestSent, to: Self.least)
    } else {
      loss.lower(by: Self.penalty, from: rates.newestSent, to: Self.least)
    }
    decreases.note(at: time)
  }

  // MARK: Probes

  public mutating func probe(_ bitrate: Int, at time: MediaTime) {
    guard probes != nil, probe == nil else { return }
    probe = LinkProbe(bitrate: bitrate, at: time)
  }

  public func missingPadding(at time: MediaTime) -> Int? { probe?.missing(at: time) }

  private mutating func readProbe(_ arrivals: [SentPackets.Arrival], at time: MediaTime) {
    guard let passed = probe?.read(arrivals, at: time) else { return }
    probe = nil
    probes = LinkEstimate.Probes(count: (probes?.count ?? 0) + 1, passed: passed)
    guard trend.signal != .overuse else { return }
    delay.raise(to: Double(passed))
    loss.raise(to: Double(passed))
  }

  // MARK: Reports

  private mutating func isHeard(at time: MediaTime) {
    (heard.last, heard.packetsSince, heard.lastPenalty) = (time, 0, nil)
    rates.newestSent = rates.sent.rate(at: time) ?? rates.newestSent
  }

  private mutating func read(_ feedback: TransportFeedback, at time: MediaTime) {
    isHeard(at: time)
    heard.arrivals = time
    probes = probes ?? LinkEstimate.Probes()
    let news = packets.read(feedback, since: decreases.newest, at: time)
    var isOveruse = false
    for arrival in news.arrivals {
      trend.add(arrival)
      isOveruse = isOveruse || trend.signal == .overuse
      rates.arriving.add(arrival.bytes, at: arrival.arrived)
    }
    guard let newest = news.arrivals.map(\.arrived).max() else {
      return note(lost: news.lost, of: news.total, at: time)
    }
    rates.newestArriving = rates.arriving.rate(at: newest) ?? rates.newestArriving
    note(lost: news.lost, of: news.total, at: time)
    defer { readProbe(news.arrivals, at: time) }
    guard let arriving = rates.newestArriving else { return }
    let isLowered = delay.update(
      isOveruse ? .overuse : trend.signal, arriving: arriving, ceiling: ceiling,
      roundTrip: news.roundTrip ?? .milliseconds(100), at: time)
    if isLowered { decreases.note(at: time) }
  }

  private mutating func read(_ blocks: [ReportBlock], at time: MediaTime) {
    // Without arrivals nothing else has lowered it meanwhile.
    let news = reported.read(blocks, since: heard.arrivals == nil ? nil : decreases.newest, at: time)
    // Arrivals say the same, and sooner.
    guard heard.arrivals.map({ time - $0 > Self.unreported }) ?? true, !blocks.isEmpty else { return }
    isHeard(at: time)
    note(lost: news.lost, of: news.total, at: time)
    if heard.arrivals != nil, news.total > 0, news.lost == 0 { delay.pass(rates.newestSent, ceiling, at: time) }
  }

  private mutating func note(lost: Int, of total: Int, at time: MediaTime) {
    let isLowered = loss.add(lost: lost, of: total, sent: rates.newestSent, ceiling: ceiling, at: time)
    if isLowered { decreases.note(at: time) }
  }

  private mutating func read(_ remb: REMB, at time: MediaTime) {
    let new = Double(remb.bitrate)
    if new < min(stated ?? .infinity, rates.newestSent) { decreases.note(at: time) }
    stated = new
  }
}
