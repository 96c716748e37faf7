import ArgumentParser
import Foundation
import MediaBridge
import MediaCore

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Show who is in a room, what they publish and how it arrives.",
    usage: "mediabridge watch [<options>]",
    discussion: "With --json there is a line for everything that happens, and once a second one for how things stand.")

  @OptionGroup var access: RoomArguments
  @Option(help: "How long; without it until Ctrl-C", transform: duration(of:)) var duration: Duration?

  @Flag(help: "Drop the video for the audio while the way to here is too narrow for both") var audioFallback = false

  func validate() throws { try access.checkAccess() }

  func run() async throws {
    let console = access.console()
    let (url, token) = (try access.serverURL(), try access.accessToken())
    var options = access.roomOptions()
    options.reportRemoteTrackStatistics = true
    options.audioFallback = audioFallback
    let room = Room(roomOptions: options)
    let events = room.events
    let screen = RoomScreen(console: console)
    let teller = Task {
      for await event in events {
        console.tell(event)
        screen.keep(event.lines.map { PrintableText($0) })
      }
    }
    Terminal.shared.onWarning { screen.keep([$0]) }
    let interruption = Interruption()
    do {
      try await console.join(url, interruption) {
        try await room.connectToReceive(url: url, token: token, connectOptions: access.connectOptions)
      }
    } catch {
      await teller.value
      console.fail(error)
      throw ExitCode.failure
    }
    let deadline = duration.map { ContinuousClock.now + $0 }
    while deadline.map({ ContinuousClock.now < $0 }) ?? true {
      if await interruption.came(within: .seconds(1)) { break }
      guard room.connectionState != .disconnected else {
        await teller.value
        console.fail(room.loss)
        throw ExitCode.failure
      }
      await screen.show(room)
      // Telling is all that it does.
      if Terminal.shared.readerHasGone { break }
    }
    // What goes with us was ended by nobody else.
    teller.cancel()
    await teller.value
    await room.disconnect()
  }
}

/// The state of a room once a second: a table on a terminal, one JSON line for machines.
actor RoomScreen {
  /// How many lines stay below the table.
  private static let most = 8

  private let console: Console
  /// What was told last: emptying the screen takes it away.
  private let told = Locked<[PrintableText]>([])
  private var last: [String: (statistics: InboundRtpStreamStatistics, rates: Rates?)] = [:]

  init(console: Console) { self.console = console }

  nonisolated func keep(_ lines: [PrintableText]) {
    told.withLock { $0 = Array(($0 + lines).suffix(Self.most)) }
  }

  func show(_ room: Room) async {
    let present = room.remoteParticipants.values.sorted { $0.sid < $1.sid }
    let isEmptied = console.clear()
    console.head("\(present.count) participant\(present.count == 1 ? "" : "s") in room \(room.name)")
    var participants: [[String: Any]] = []
    for participant in present {
      console.head(describe(participant))
      var tracks: [[String: Any]] = []
      for publication in participant.trackPublications.values.sorted(by: { $0.sid < $1.sid }) {
        let rates = rates(of: publication)
        console.say("  " + describe(publication, rates))
        tracks.append(fields(publication, rates))
      }
      participants.append(["identity": participant.identity ?? "", "sid": participant.sid, "tracks": tracks])
    }
    if isEmptied { for line in told.withLock({ $0 }) { Terminal.shared.say(line) } }
    console.event("room", ["room": room.name, "participants": participants])
  }

  private func rates(of publication: RemoteTrackPublication) -> Rates? {
    guard let now = publication.track?.statistics?.inboundRtp?.first else { return nil }
    let before = last[publication.sid]
    // Statistics come each second as well, but not at the same moments.
    let rates = before?.statistics == now ? before?.rates : before.map { Rates(from: $0.statistics, to: now) }
    last[publication.sid] = (now, rates)
    return rates
  }

  private func describe(_ participant: RemoteParticipant) -> String {
    var parts = [participant.identity ?? participant.sid]
    if let name = participant.name, name != participant.identity { parts.append("“\(name)”") }
    if participant.isSpeaking { parts.append("speaks") }
    return parts.joined(separator: "  ")
  }

  private func describe(_ publication: RemoteTrackPublication, _ rates: Rates?) -> String {
    var parts = ["\(publication.source)", publication.mimeType, publication.sid]
    if let size = publication.dimensions { parts.append("\(size)") }
    if publication.simulcasted {
      parts.append("layers " + publication.layers.map { "\($0.dimensions)" }.joined(separator: "/"))
    }
    if publication.isMuted { parts.append("muted") }
    if publication.encryptionType != .none { parts.append("encrypted end to end") }
    if let rates {
      if publication.kind == .video { parts.append(String(format: "%.1f fps", rates.fps)) }
      parts.append(String(format: "%.0f kbit/s, %.2f %% lost", rates.bitrate / 1000, rates.loss * 100))
    } else if !publication.isSubscribed {
      parts.append("not subscribed")
    }
    return parts.joined(separator: "  ")
  }

  private func fields(_ publication: RemoteTrackPublication, _ rates: Rates?) -> [String: Any] {
    var fields: [String: Any] = [
      "sid": publication.sid, "kind": publication.kind.description, "source": publication.source.description,
      "codec": publication.mimeType, "muted": publication.isMuted, "subscribed": publication.isSubscribed,
      "layers": publication.layers.map(\.dimensions.description), "encryption": "\(publication.encryptionType)",
    ]
    if let size = publication.dimensions { fields["size"] = size.description }
    if let rates {
      fields["fps"] = (rates.fps * 10).rounded() / 10
      fields["bitrate"] = Int(rates.bitrate)
      fields["loss"] = rates.loss
    }
    return fields
  }
}

/// What came of a track between two statistics of it.
private struct Rates {
  var fps: Double
  var bitrate: Double
  var loss: Double

  init(from before: InboundRtpStreamStatistics, to now: InboundRtpStreamStatistics) {
    let packets = Self.difference(before.packetsReceived, now.packetsReceived)
    let lost = Self.difference(before.packetsLost, now.packetsLost)
    let seconds = max(0.001, (now.timestamp - before.timestamp) / 1000)
    fps = Self.difference(before.framesReceived, now.framesReceived) / seconds
    bitrate = Self.difference(before.bytesReceived, now.bytesReceived) * 8 / seconds
    loss = packets + lost > 0 ? lost / (packets + lost) : 0
  }

  /// None where it counts anew, after the track was subscribed to again.
  private static func difference<Count: BinaryInteger>(_ before: Count?, _ now: Count?) -> Double {
    max(0, Double(now ?? 0) - Double(before ?? 0))
  }
}
