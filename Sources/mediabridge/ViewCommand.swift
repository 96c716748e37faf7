import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaBridgeDesktop
import MediaCore
import MediaPipelines
import PipelineTemplates

struct ViewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view", abstract: "Show a room in a window, with a tile for each camera and shared screen.",
    usage: "mediabridge view [<options>]",
    discussion: """
      It ends when the window is closed, or with Ctrl-C. The server sends frames as large as their tiles. --audio plays \
      what is said, mixed, by the pipeline template playback; --set sink=alsasink chooses the device's kind. The window \
      needs an X11 display; its pipeline templates are window-grid and window-tile.
      """)

  @OptionGroup var access: RoomArguments
  @OptionGroup var set: AssignmentArguments<OfAll>
  @OptionGroup var drawing: DrawingArguments
  @Option(
    help: "Identity of a participant, or a pattern such as speaker-*; again for further ones; without it everyone")
  var participant: [String] = []
  @Option(help: ArgumentHelp("Size of the window in pixels, such as 1280x720", valueName: "WxH"), transform: size(of:))
  var size: Dimensions?
  @Flag(help: "Play the audio of those who are shown, too") var audio = false
  @Option(help: "How long; without it until the window is closed or Ctrl-C", transform: duration(of:))
  var duration: Duration?

  func validate() throws {
    try access.checkAccess()
    try access.check(participants: participant)
    _ = try values()
  }

  private static let playback = TemplateName(.output, "playback")

  /// For the window's templates, for those that receive, and for the one that plays.
  private func values() throws -> [[String: String]] {
    let groups = [TileWindow.templates, try SetArguments.receiveTemplates(folder: access.pipelines)]
    let values = try set.values(for: groups + (audio ? [[Self.playback]] : []), folder: access.pipelines)
    if audio { try checkDevice(values[2]) }
    return values
  }

  /// The library plays where there is a device, and is silent elsewhere; here somebody waits to hear something.
  private func checkDevice(_ values: [String: String]) throws {
    let store = TemplateStore(searchPath: .ofProcess(explicit: access.pipelines))
    let variables = (try? store.find(Self.playback.kind, Self.playback.name))?.variables.map(\.name) ?? []
    guard variables.contains("sink"), values["sink"] == nil, AudioDevice.ofProcess.sinks.isEmpty else { return }
    throw ValidationError(
      "--audio: this machine has no audio device, neither a sound server (PulseAudio, PipeWire) nor a sound card; "
        + "leave --audio out, or name what plays with --set sink=ELEMENT")
  }

  func run() async throws {
    let console = access.console()
    let (url, token) = (try access.serverURL(), try access.accessToken())
    let values = try values()
    let options = access.roomOptions(
      autoSubscribe: false, adaptiveStream: true, receiveValues: values[1], playbackValues: audio ? values[2] : nil)
    do {
      try drawing.begin()
      let window = try TileWindow(
        size: size, pipelineFolder: options.pipelineFolder, pipelineValues: values[0])
      let viewer = RoomViewer(
        room: Room(roomOptions: options), window: window, participants: participant,
        kinds: audio ? [.video, .audio] : [.video],
        console)
      let failure: (any Error)?
      do {
        try await viewer.show(url: url, token: token, access.connectOptions, duration: duration)
        failure = nil
      } catch { failure = error }
      await window.close()
      if let failure { throw failure }
      try Drawings.check()
    } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }
}

/// Keeps the tiles of a window in step with who shows frames in a room.
actor RoomViewer {
  /// How often it is looked whom it waits for.
  private static let pace = Duration.milliseconds(250)

  private let room: Room
  private let window: TileWindow
  /// Whose video is shown.
  private let choice: RawChoice
  private let kinds: Set<Track.Kind>
  private let console: Console
  /// By the publication's sid.
  private var shown: [String: (tile: VideoTile, track: RemoteVideoTrack)] = [:]

  /// - Parameters:
  ///   - participants: identities, and patterns of them; without any everyone.
  ///   - kinds: what is subscribed to: frames are shown, and the room plays audio.
  init(room: Room, window: TileWindow, participants: [String], kinds: Set<Track.Kind>, _ console: Console) {
    (self.room, self.window, self.kinds, self.console) = (room, window, kinds, console)
    choice = RawChoice(kind: .video, participants: participants)
  }

  /// Shows the room until it or the window ends, a signal comes, or the time is over.
  func show(url: String, token: String, _ options: ConnectOptions, duration: Duration?) async throws {
    let events = room.events
    let follower = Task { for await event in events { self.follow(event) } }
    let interruption = Interruption()
    do {
      try await console.join(url, interruption) {
        try await room.connectToReceive(url: url, token: token, connectOptions: options)
      }
    } catch {
      await follower.value
      throw error
    }
    let size = window.size
    console.event("window", ["size": size.description])
    console.live("Showing room \(room.name) (Ctrl-C ends)")
    let waiter = Task { await self.tellWait() }
    await end(follower, interruption, or: duration)
    waiter.cancel()
    let lost = room.disconnectError
    await room.disconnect()
    await follower.value
    removeAll()
    if let failure = window.failure ?? lost { throw failure }
    console.event("finished", [:])
  }

  /// Returns at the first end of what there is to wait for.
  private func end(_ follower: Task<Void, Never>, _ interruption: Interruption, or duration: Duration?) async {
    let (ends, end) = AsyncStream<Void>.makeStream()
    let waiting = [
      Task {
        await interruption.wait(atMost: duration)
        end.yield()
      },
      Task { [window] in
        await window.untilClosed()
        end.yield()
      },
      Task {
        await follower.value
        end.yield()
      },
    ]
    for await _ in ends { break }
    for task in waiting { task.cancel() }
  }

  /// Says whom it waits for, until something is shown: a black window tells nothing of a mistyped name.
  private func tellWait() async {
    var search = RawSearch()
    while shown.isEmpty, !Task.isCancelled {
      let missing = search.news(of: choice, among: room.remoteParticipants.values, at: .now)
      if let missing { console.tell(waitingFor: missing) }
      try? await Task.sleep(for: Self.pace)
    }
  }

  private func follow(_ event: RoomEvent) {
    console.tell(event)
    switch event {
    case .trackPublished(let owner, let publication):
      guard kinds.contains(publication.kind), choice.accepts(owner) else { return }
      // Without a connection there is nothing to show, which the end of the room tells.
      Task { try? await publication.set(subscribed: true) }
    case .trackSubscribed, .trackUnsubscribed, .muteChanged, .participantNameChanged, .participantDisconnected:
      arrange()
    default: break
    }
  }

  /// Makes the tiles those of the tracks that are subscribed and not muted: a frame that stands still would be taken
  /// for one that is live.
  private func arrange() {
    var wanted: [(sid: String, name: String, track: RemoteVideoTrack)] = []
    for participant in room.remoteParticipants.values.sorted(by: { $0.sid < $1.sid }) {
      for publication in participant.trackPublications.values.sorted(by: { $0.sid < $1.sid }) {
        guard let track = publication.track as? RemoteVideoTrack, !publication.isMuted else { continue }
        wanted.append((publication.sid, name(of: publication, of: participant), track))
      }
    }
    for (sid, old) in shown {
      let isWanted = wanted.contains { $0.sid == sid && $0.track === old.track && $0.name == old.tile.name }
      if !isWanted { remove(sid) }
    }
    for new in wanted where shown[new.sid] == nil { add(new.sid, new.name, new.track) }
  }

  private func name(of publication: RemoteTrackPublication, of participant: RemoteParticipant) -> String {
    let name = participant.name.flatMap { $0.isEmpty ? nil : $0 } ?? participant.identity ?? participant.sid
    return publication.source == .screenShareVideo ? "\(name) (screen)" : name
  }

  private func add(_ sid: String, _ name: String, _ track: RemoteVideoTrack) {
    do {
      let tile = try window.addTile(name: name)
      track.add(videoRenderer: tile)
      shown[sid] = (tile, track)
      console.event("tile_added", ["sid": sid, "name": name])
    } catch {
      // A window that is gone ends the program anyway; a template with a mistake is told.
      if error.code != .invalidState { console.fail(error) }
    }
  }

  private func remove(_ sid: String) {
    guard let (tile, track) = shown.removeValue(forKey: sid) else { return }
    track.remove(videoRenderer: tile)
    window.remove(tile)
    console.event("tile_removed", ["sid": sid, "name": tile.name])
  }

  private func removeAll() { for sid in shown.keys { remove(sid) } }
}
