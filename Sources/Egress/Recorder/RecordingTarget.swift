import MediaBridge
import MediaPipelines
import PipelineTemplates

/// One destination of a recording, with its templates: checked, and its file taken, before a room is joined.
struct RecordingTarget: Sendable {
  /// With the placeholders of its file's name, or of its address, until it is known what fills them.
  private(set) var destination: Destination
  /// As it was named.
  let named: Destination
  /// With its placeholders filled, and without the number of another take.
  private var whole: Destination
  private var name: FileNameTemplate?
  /// How often it was written before.
  private let takesBefore: Int
  /// Whether it is one of many, whose names may become the same.
  private let isOfMany: Bool
  /// What is set for this one alone.
  let ownValues: [String: String]
  private(set) var factory: PipelineFactory
  private(set) var planner: OutputPlanner
  /// The encode templates that are asked for.
  let encode: [String]
  /// How long its server may be away, where it has one.
  let reconnectFor: Duration
  /// How much each of its files holds; nil for one file, which images and live playlists go on in.
  let parts: PartLimit?
  private(set) var claim: FileClaim?
  /// What is said, beside the file.
  private(set) var captions: DestinationCaptions.Start?

  /// - Parameters:
  ///   - templates: where they are read already.
  ///   - logger: is told of folders of templates that are passed over.
  /// - Throws: nothing says which template, there is none of its name, or it cannot be filled.
  init(
    _ destination: OutputDestination, _ options: RecordingOptions, _ templates: OutputTemplates?, folder: String?,
    loggers: Loggers
  ) throws(LiveKitError) {
    (self.destination, named, ownValues) = (destination.destination, destination.destination, destination.values)
    (whole, takesBefore, isOfMany) = (destination.destination, destination.takesBefore, destination.isOfMany)
    name = try FileNameTemplate(of: named)
    if name == nil { self.destination = try named.checkedTake(after: takesBefore) }
    (reconnectFor, encode) = (options.reconnectFor, options.encode)
    let values = options.encoding.values.merging(options.values) { $1 }.merging(destination.values) { $1 }
    factory = PipelineFactory(folder: folder, overrides: values, logger: loggers.pipelines)
    planner =
      if let templates {
        try OutputPlanner(templates, factory: factory)
      } else {
        try OutputPlanner(self.destination, encode: options.encode, factory: factory)
      }
    parts = planner.mayHaveParts ? PartLimit.limit(options.parts, atMost: planner.largestFile) : nil
    planner.wantsCaptions = options.captions && mayHaveCaptions
  }

  /// Whether something may lie beside its files: not beside images.
  var mayHaveCaptions: Bool { destination.isFile && planner.segments?.imageInterval == nil }

  /// Whether it may go on in another file.
  var mayHaveParts: Bool { destination.isFile && planner.mayHaveParts }

  /// Finds mistakes in what is set for it, and passes over what is set for others.
  /// - Parameters:
  ///   - options: says which kinds are wanted.
  ///   - isMixed: whether they are made of frames and PCM here.
  mutating func check(_ options: RecordingOptions, isMixed: Bool) throws(LiveKitError) {
    let kinds = options.wantedKinds
    let known = planner.variables(for: kinds)
    if let name = ownValues.keys.sorted().first(where: { !known.contains($0) }) {
      throw LiveKitError(
        UnknownVariable(name: name, templates: planner.templates(for: kinds), known: known.sorted()).error)
    }
    guard name == nil || destination.isFile || known.contains("location") else { throw placeless }
    if name != nil, destination.isFile {
      let file = destination.location
      try FileClaim.asking(file) { () throws(LiveKitError) in try FileClaim.checkFolder(ofName: file) }
    }
    factory = PipelineFactory(store: factory.store, overrides: factory.overrides.filter { known.contains($0.key) })
    try planner.check(
      kinds, foreseen: options.foreseenKinds, isMixed: isMixed, factory: factory, values: destination.values)
  }

  /// - Throws: what the live playlist beside its own cannot be of.
  func checkLivePlaylist(_ options: RecordingOptions) throws(LiveKitError) {
    guard planner.segments?.livePlaylist != nil else { return }
    guard options.parts == nil else {
      throw LiveKitError(
        .invalidParameter,
        "parts are asked for, and `live-playlist` lists what is newest of all of them; leave one of the two out")
    }
    guard isOfMany else { return }
    let isOfTrack = !options.trackSids.isEmpty
    let (unit, placeholder) = isOfTrack ? ("track", "{track_id}") : ("participant", "{publisher_identity}")
    let folder = named.location.prefix(upTo: named.location.lastIndex(of: "/") ?? named.location.startIndex)
    guard !folder.contains(placeholder) else { return }
    throw LiveKitError(
      .invalidParameter,
      "\(named.shown): `live-playlist` is one file in its folder, and each \(unit) needs one of its own: put "
        + "\(placeholder) into the folder, as in \(placeholder)/call.m3u8")
  }

  /// The output's template with the values that are set, and those of the destination.
  func fillOutput() throws(PipelineFailure) -> FilledTemplate {
    try factory.fill(planner.read.output, values: destination.values)
  }

  /// The elements by which such tracks are encoded.
  func encoderElements(of tracks: [Track.Kind: TrackTraits]) -> [String] {
    let encoders = (try? planner.plan(tracks))?.feeds.values.compactMap(\.encoder) ?? []
    return encoders.compactMap { try? factory.fill(.encode, $0, values: [:]) }.flatMap { $0.elements.map(\.factory) }
  }

  private var placeless: LiveKitError {
    LiveKitError(
      .invalidParameter,
      "\(destination.shown): \(planner.template) takes host and port alone: what fills a placeholder would go nowhere")
  }

  /// Fills the placeholders of the file's name, or of the address, where all of them are known. Parts of what was written
  /// before are called alike, so that only the whole name tells which one is free.
  mutating func fill(_ values: FileNameValues) throws(LiveKitError) {
    guard let filled = try name?.filled(destination, values, values.track(of: planner.kinds)) else { return }
    // That of one of many is known once it is taken.
    destination = try isOfMany ? filled : filled.checkedTake(after: takesBefore)
    (whole, name) = (filled, nil)
  }

  /// Why it has no file yet, once all is known; nil where it has.
  var lack: LiveKitError? {
    guard let name else { return nil }
    let missing = name.placeholders.filter(\.isOfOneTrack).map { "{\($0.rawValue)}" }.joined(separator: " and ")
    return LiveKitError(.invalidParameter, "\(destination.shown): nothing fills \(missing): no such track is published")
  }

  /// - Parameter kinds: that are wanted.
  /// - Throws: a name is asked for of which there is none.
  func checkName(_ kinds: Set<Track.Kind>) throws(LiveKitError) {
    guard let placeholder = name?.placeholders.first(where: \.isOfOneTrack), kinds.intersection(planner.kinds).count > 1
    else { return }
    throw LiveKitError(
      .invalidParameter,
      "\(destination.shown): {\(placeholder.rawValue)} is of one track, and the file holds video and audio; name a file "
        + "of one of them with it")
  }

  /// Takes the file, also when it has been removed while nothing was in it. An address is nobody's.
  /// - Parameters:
  ///   - others: that have theirs already.
  ///   - replaces: whether it may hold something.
  mutating func claimFile(
    besides others: some Sequence<RecordingTarget>, replaces: Bool
  ) throws(LiveKitError) {
    guard name == nil else { return }
    for other in others {
      guard try isSame(as: other) else { continue }
      throw LiveKitError(
        .invalidParameter,
        "\(other.destination.shown) and \(destination.shown) are the same: two destinations cannot write into one; "
          + "give one of them another name")
    }
    guard destination.isFile else { return }
    if let claim, claim.loss == nil { return }
    release()
    let made =
      try isOfMany && claim == nil
      ? takenOfMany(besides: others, replaces: replaces) : taken(replaces: replaces)
    guard replaces || (made.bytes ?? 0) == 0 else {
      made.release()
      throw Self.exists(destination.shown)
    }
    claim = made
    if planner.wantsCaptions { try claimCaptions(besides: others, replaces: replaces) }
  }

  private func taken(replaces: Bool) throws(LiveKitError) -> FileClaim {
    if !replaces, let options = planner.captionedSegments, let old = try occupied(options) { throw Self.exists(old) }
    return try FileClaim.taken(destination.location)
  }

  /// Takes a file that is nobody else's, whatever others are called.
  private mutating func takenOfMany(
    besides others: some Sequence<RecordingTarget>, replaces: Bool
  ) throws(LiveKitError) -> FileClaim {
    let captioned = others.filter { $0.captions?.file != nil }.map(\.destination.stem)
    let own = OwnName(
      whole: whole, takes: takesBefore, segments: planner.captionedSegments,
      captionedStems: planner.wantsCaptions && planner.segments == nil ? captioned : nil)
    while true {
      let reserved = try FileClaim.asking(whole.location) { own.reserve() }
      destination = reserved.place
      let made = Result<FileClaim, LiveKitError> { () throws(LiveKitError) in try taken(replaces: replaces) }
      reserved.giveBack()
      // A part of somebody else's may have got it in between.
      if case .failure = made, FileClaim.isKnown(destination.location) { continue }
      return try made.get()
    }
  }

  /// The path of a file that would be replaced besides its own; nil where there is none.
  private func occupied(_ options: SegmentOptions) throws(LiveKitError) -> String? {
    let (names, isLater) = (try SegmentNames(destination, options), destination.location != whole.location)
    return try FileClaim.asking(destination.location) { names.occupied(isLater: isLater) }
  }

  private mutating func claimCaptions(
    besides others: some Sequence<RecordingTarget>, replaces: Bool
  ) throws(LiveKitError) {
    guard planner.segments == nil else {
      captions = DestinationCaptions.Start()
      return
    }
    let place = CaptionPlace(
      keepsEnding: others.contains { $0.captions?.file != nil && $0.destination.stem == destination.stem })
    let path = place.path(beside: destination)
    if !replaces {
      let isEmpty = try FileClaim.asking(path) { FileClaim.isEmpty(path) }
      guard isEmpty else { throw Self.exists(path) }
    }
    captions = DestinationCaptions.Start(place: place, file: try place.claim(beside: destination))
  }

  private static func exists(_ file: String) -> LiveKitError {
    LiveKitError(.output, "\(file) exists already; choose another name, or give --overwrite to replace it")
  }

  /// As it was named, or as its file is called.
  func isCalled(_ location: String) -> Bool { [named.location, destination.location].contains(location) }

  private func isSame(as other: RecordingTarget) throws(LiveKitError) -> Bool {
    guard destination.isFile else { return destination.location == other.destination.location }
    // Whose names become the same by what somebody is called get others.
    if isOfMany { return whole.location == other.whole.location }
    guard let claim = other.claim else { return false }
    let path = destination.location
    return try FileClaim.asking(path) { claim.isOf(path) }
  }

  /// The values for receive templates that change nothing of what goes in.
  func idle(_ values: [String: String], _ plan: OutputPlan, _ tracks: [Track.Kind: TrackTraits]) -> Set<String> {
    var idle = Set(values.keys)
    for (kind, feed) in plan.feeds where !idle.isEmpty {
      // Of what has not come yet nothing is known.
      guard let codec = tracks[kind]?.codec, let template = try? factory.template(.receive, codec) else { return [] }
      idle.subtract(template.variables(outsideBranches: feed.way == .asSent ? ["frames", "pcm"] : []))
    }
    return idle
  }

  /// Gives the file back; one that was made here and has got nothing goes.
  func release() {
    claim?.release()
    captions?.file?.release()
  }
}
