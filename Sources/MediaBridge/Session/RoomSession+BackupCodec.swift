import LiveKitProtocol
import MediaPipelines

// A track that not everybody can decode comes in another codec, too, once the server says that somebody needs that.
extension RoomSession {
  /// Which codecs and layers somebody receives.
  func obey(_ update: Livekit_SubscribedQualityUpdate) {
    guard var published = services.local[update.trackSid] else { return }
    logger.debug(
      "layers wanted", metadata: ["track": "\(update.trackSid)", "layers": .array(update.wantedLayers.map { "\($0)" })])
    guard let backup = published.plan.backup else {
      if options.dynacast { published.outgoing.set(update.qualities(of: nil)) }
      return
    }
    let wanted = update.qualities(of: backup.codec)
    // LiveKit's server takes nothing of a first codec that the other one has replaced for everybody, and does not report
    // that it came, which would pass for loss.
    if options.dynacast || published.isBackupInUse || (published.mayHaveBackup && wanted.contains(where: \.enabled)) {
      published.outgoing.set(update.qualities(of: published.plan.codec))
    }
    switch published.backup {
    case .sent(let outgoing): outgoing.set(wanted)
    case .failed: break
    case .unwanted where !wanted.contains(where: \.enabled): break
    case .unwanted:
      published.backup = .coming(wanted)
      services.local.replace(published)
      // The answer comes where this does.
      Task { await sendBackup(of: published.publication) }
    case .coming:
      published.backup = .coming(wanted)
      services.local.replace(published)
    }
  }

  /// The track goes on in its first codec.
  func backupFailed(_ error: LiveKitError, of failed: LocalTracks.Published, _ outgoing: OutgoingTrack) {
    logger.warning(
      "a track is not sent in its backup codec",
      metadata: ["codec": "\(outgoing.plan.codec)", "reason": "\(error.message)"])
    var published = failed
    published.backup = .failed
    services.local.replace(published)
    published.publication.send(withBackup: nil)
    // The server may have had everybody change over to the other one.
    for layer in published.outgoing.layers { layer.set(paused: false) }
    Task { await takeBack(outgoing) }
  }

  private func sendBackup(of publication: LocalTrackPublication) async {
    guard let published = services.local[publication], let plan = published.plan.backupPlan else { return }
    let (generation, sid) = (services.local.generation, published.response.track.sid)
    do throws(LiveKitError) {
      try LiveKitError.wrapping { () throws(PipelineFailure) in try factory(for: plan).check(plan.templates) }
      let response = try await announce(plan) {
        plan.backupAnnouncement(cid: $0, track: publication.captured, sid: sid)
      }
      let outgoing = try await send(plan, cid: response.cid, generation)
      guard var current = services.local[publication], !current.isWithdrawn,
        case .coming(let wanted) = current.backup
      else {
        return await takeBack(outgoing)
      }
      outgoing.set(wanted)
      current.backup = .sent(outgoing)
      services.local.replace(current)
      publication.send(withBackup: outgoing)
      logger.debug("a track comes in its backup codec, too", metadata: ["codec": "\(plan.codec)"])
    } catch {
      guard generation == services.local.generation, var current = services.local[publication] else { return }
      logger.warning("a track is not sent in its backup codec", metadata: ["reason": "\(error.message)"])
      // The next time that somebody needs it.
      current.backup = .unwanted
      services.local.replace(current)
    }
  }
}

extension Livekit_SubscribedQualityUpdate {
  /// Such as `vp8 low`.
  fileprivate var wantedLayers: [String] {
    subscribedCodecs.flatMap { codec in codec.qualities.filter(\.enabled).map { "\(codec.codec) \($0.quality)" } }
  }
}
