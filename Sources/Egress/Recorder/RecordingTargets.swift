import Foundation
import MediaBridge
import MediaPipelines
import PipelineTemplates

/// All that a recording writes: a mistake in any of them is told, with its name, before anything starts.
struct RecordingTargets: Sendable {
  private(set) var all: [RecordingTarget]
  private var names: FileNameValues
  private let replacesFiles: Bool
  private let isMixed: Bool

  /// - Parameters:
  ///   - templates: of each destination, where they are read already.
  ///   - isMixed: whether what they get is made of frames and PCM here.
  init(
    _ options: RecordingOptions, _ templates: [OutputTemplates]? = nil, isMixed: Bool = false, folder: String?,
    loggers: Loggers = Loggers()
  ) throws(LiveKitError) {
    guard !options.destinations.isEmpty else {
      throw LiveKitError(.invalidParameter, "nothing says where the recording goes: give it a destination")
    }
    all = []
    (names, replacesFiles) = (FileNameValues(at: Date()), options.replacesFiles)
    self.isMixed = isMixed
    for (index, destination) in options.destinations.enumerated() {
      try Self.naming(destination.destination, among: options.destinations.count) { () throws(LiveKitError) in
        all.append(
          try RecordingTarget(destination, options, templates?[index], folder: folder, loggers: loggers))
      }
    }
  }

  /// - Parameter options: without the kinds that no destination takes, afterwards.
  /// - Throws: what cannot be, and what to do about it.
  mutating func check(_ options: inout RecordingOptions) throws(LiveKitError) {
    try options.parts?.check()
    if all.allSatisfy(\.destination.isWindow) {
      throw LiveKitError(
        .invalidParameter,
        "a window shows what is recorded: name a file or a live server, too; `view` shows a room alone")
    }
    if options.parts != nil { try checkParts() }
    if options.captions, !all.contains(where: \.mayHaveCaptions) {
      throw LiveKitError(
        .invalidParameter,
        "captions are asked for, and no destination is a file that they could lie beside; name one, such as call.mp4")
    }
    try checkSources(options)
    if options.hasVoices { try checkVoices() }
    try checkEncoders()
    let (asked, wanted) = (options, options.wantedKinds)
    for index in all.indices {
      try Self.naming(all[index].destination, among: all.count) { () throws(LiveKitError) in
        try Self.checkKinds(wanted, all[index].planner)
        try all[index].checkLivePlaylist(options)
        if options.trackSids.count != 1 { try all[index].checkName(wanted) }
      }
    }
    try checkEncoding(options.encoding, wanted)
    try checkNames(options.encoding.ownValues.merging(options.values) { $1 }, wanted)
    options.kinds.formIntersection(all.flatMap(\.planner.kinds))
    for index in all.indices {
      try Self.naming(all[index].destination, among: all.count) { () throws(LiveKitError) in
        try all[index].check(asked, isMixed: isMixed)
      }
    }
  }

  /// Takes their files, but for those whose names are not all known yet.
  mutating func claim() throws(LiveKitError) {
    for index in all.indices {
      try all[index].fill(names)
      try all[index].claimFile(besides: all[..<index], replaces: replacesFiles)
    }
  }

  /// Notes who is recorded, for names of files.
  mutating func know(
    _ room: Room, _ participant: RemoteParticipant?, _ tracks: [RemoteTrackPublication]
  ) { names.add(room, participant, tracks) }

  /// Checks one more, and takes its file.
  /// - Throws: what cannot be, with its name.
  mutating func add(
    _ destination: OutputDestination, _ options: RecordingOptions, folder: String?, loggers: Loggers
  ) throws(LiveKitError) -> RecordingTarget {
    guard destination.values["location"] == nil else { throw Self.locationIsSet }
    names.set(Date())
    var added: RecordingTarget?
    try Self.naming(destination.destination, among: all.count + 1) { () throws(LiveKitError) in
      var target = try RecordingTarget(destination, options, nil, folder: folder, loggers: loggers)
      try Self.checkKinds(options.wantedKinds, target.planner)
      try target.checkLivePlaylist(options)
      try target.check(options, isMixed: isMixed)
      try target.fill(names)
      try target.claimFile(besides: all, replaces: replacesFiles)
      added = target
    }
    guard let added else { throw LiveKitError(.invalidState, "\(destination.location) was not checked") }
    all.append(added)
    return added
  }

  /// Forgets one whose place another one may take.
  mutating func remove(_ destination: Destination) {
    for target in all where target.destination == destination { target.release() }
    all.removeAll { $0.destination == destination }
  }

  /// Gives the files back that nothing has come to.
  func release() { for target in all { target.release() } }

  // MARK: Mistakes

  private var templates: String { Set(all.map(\.planner.template.description)).sorted().joined(separator: " and ") }

  private func checkParts() throws(LiveKitError) {
    guard !all.contains(where: \.mayHaveParts) else { return }
    let names = all.filter { !$0.destination.isWindow }.map(\.destination.shown)
    throw LiveKitError(
      .invalidParameter,
      "parts are asked for, and \(names.joined(separator: " and ")) \(names.count > 1 ? "have" : "has") none: "
        + "live servers, live playlists and images are not cut; name a file that is, too, such as call.mp4")
  }

  private func checkSources(_ options: RecordingOptions) throws(LiveKitError) {
    for source in options.sources where !all.contains(where: { $0.planner.kinds.contains(source.kind) }) {
      throw LiveKitError(
        .invalidParameter,
        "\(templates) \(all.count > 1 ? "take" : "takes") no \(source.kind), which --source \(source.optionName) is")
    }
  }

  private func checkVoices() throws(LiveKitError) {
    guard !all.contains(where: \.planner.takesVoices) else { return }
    throw LiveKitError(
      .invalidParameter,
      "a track of audio for each participant: \(templates) \(all.count > 1 ? "hold" : "holds") one audio; name a .mkv or "
        + ".mp4 file, or an output of your own that has an appsrc called \(RepeatedInput.name)")
  }

  private func checkEncoders() throws(LiveKitError) {
    for (kind, name) in all[0].planner.idleEncoders where all.allSatisfy({ $0.planner.idleEncoders[kind] != nil }) {
      throw LiveKitError(
        .invalidParameter,
        "encode/\(name) makes \(kind), which \(templates) \(all.count > 1 ? "do" : "does") not take")
    }
  }

  private static func checkKinds(_ wanted: Set<Track.Kind>, _ planner: OutputPlanner) throws(LiveKitError) {
    guard wanted.isDisjoint(with: planner.kinds) else { return }
    let names = wanted.map(\.description).sorted().joined(separator: " and ")
    throw LiveKitError(.invalidParameter, "\(planner.template) takes no \(names)")
  }

  private static var locationIsSet: LiveKitError {
    LiveKitError(.invalidParameter, "`location` cannot be set: it is the file, which is given as such")
  }

  private func checkEncoding(_ encoding: EncodingOptions, _ kinds: Set<Track.Kind>) throws(LiveKitError) {
    try encoding.check()
    guard encoding.keyFrameInterval != nil else { return }
    guard kinds.contains(.video), all.contains(where: { $0.planner.kinds.contains(.video) }) else {
      throw LiveKitError(.invalidParameter, "keyframes are of video, and there is none: leave --keyframe-interval out")
    }
  }

  /// Of what is set for all, each has to be for one of them at least.
  private func checkNames(_ values: [String: String], _ kinds: Set<Track.Kind>) throws(LiveKitError) {
    guard !([values] + all.map(\.ownValues)).contains(where: { $0["location"] != nil }) else {
      throw Self.locationIsSet
    }
    let known = all.reduce(into: Set<String>()) { $0.formUnion($1.planner.variables(for: kinds)) }
    guard let name = values.keys.sorted().first(where: { !known.contains($0) }) else { return }
    var templates: [TemplateName] = []
    for template in all.flatMap({ $0.planner.templates(for: kinds) }) where !templates.contains(template) {
      templates.append(template)
    }
    throw LiveKitError(UnknownVariable(name: name, templates: templates, known: known.sorted()).error)
  }

  /// With several destinations an error says which one it is about.
  private static func naming(
    _ destination: Destination, among count: Int, _ body: () throws(LiveKitError) -> Void
  ) throws(LiveKitError) {
    do throws(LiveKitError) { try body() } catch {
      throw count > 1 && !error.message.contains(destination.shown) ? error.about(destination) : error
    }
  }
}
