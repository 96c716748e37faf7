import MediaBridge
import MediaCore

// Stretches of time of which nothing is in the output, since nothing could come.
extension JobSource {
  /// What is made good is told by nobody.
  func watchConnection() async {
    guard job.isTold, job.connection.isDue(room.connectionState, at: .now) else { return }
    await countPackets()
    await noteConnection()
  }

  /// To be called when the packets have been counted.
  func noteConnection() async {
    // Whoever has sent nothing for a while may go on in silence where only the signalling was lost.
    if room.connectionState == .reconnecting, job.connection.isQuiet(at: .now), await isAnswered {
      job.connection.hear(at: .now)
    }
    job.connection.note(room.connectionState, isAwaited: awaitsMedia, packets: packets, at: .now)
  }

  /// Also where whoever ends the job is cancelled.
  private var isAnswered: Bool {
    get async { await Task { [room] in await room.isAnswered(within: Self.answerTime) }.value }
  }

  /// Notes where nothing has come up to the end. Where the room is gone that is what the job fails with.
  func noteAbsence(at end: MediaTime) async {
    var connection = job.connection
    guard job.course.roomLoss == nil, let media = run?.job.media else { return }
    let (state, isAwaited) = (room.connectionState, awaitsMedia)
    await countPackets()
    connection.note(state, isAwaited: isAwaited, packets: packets, at: end)
    if connection.isQuiet(at: end), await !isAnswered { connection.lose() }
    guard let since = connection.since else { return }
    // Whoever is to finish it comes late.
    let limit = asked.duration.flatMap { media.moment(of: $0) } ?? end
    let missing = media.time(since: since, at: min(limit, end))
    guard missing >= GapLog.least else { return }
    let what = "the last \(Omission.stretch(missing, of: identity))"
    _ = omissions.note(
      Omission(
        ofTime: "connection",
        "\(what): the connection to the room was lost, and nothing had come back when it ended"))
  }

  /// For how long a server that is there may take to answer, on a link that loses packets.
  private nonisolated static var answerTime: Duration { .seconds(2) }

  /// While it is paused, or done, nothing is missing.
  func watchSleep() {
    guard let media = run?.job.media, let slept = media.sleeps.withLock({ $0.note(MediaTime.sleep, at: .now) }),
      run?.isActive == true, !media.isPaused, ended == nil
    else { return }
    job.missedSleep.note(slept, at: jobAge)
    note(job.missedSleep.omission(of: identity))
  }

  /// A server that takes away the right to receive takes all tracks away, and says no more than that.
  func watchPermission() {
    guard job.isTold, run?.isActive == true, room.connectionState == .connected,
      !room.localParticipant.permissions.canSubscribe, !omissions.has(Self.permission), !publications.isEmpty
    else { return }
    let reason =
      "the server did not let it receive anything from \(Int(jobAge.seconds.rounded())) s on, for it may not subscribe "
      + "any more; whoever changes what it may do has to leave it canSubscribe"
    note(Omission(ofTime: Self.permission, reason))
  }

  private static nonisolated var permission: String { "permission" }

  /// Of what is recorded.
  private var packets: Int {
    [Track.Kind.video, .audio].reduce(0) { $0 + job.arrivals.sum($1.description).packets }
  }

  /// Whether something is to come of the tracks that have come.
  private var awaitsMedia: Bool {
    publications.contains { $0.isSubscribed && !$0.isMuted && job.arrivals.has($0.sid) }
  }

  /// Of those who are recorded.
  private var publications: [RemoteTrackPublication] {
    room.remoteParticipants.values.filter { (identity == nil || identity == $0.identity) && counts($0) }
      .flatMap(\.trackPublications.values)
  }
}
