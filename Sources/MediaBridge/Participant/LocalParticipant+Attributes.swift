import LiveKitProtocol

/// Who may receive the tracks of this process.
public struct ParticipantTrackPermission: Sendable, Hashable {
  /// Whom it is for, by the server's id of this stay; empty where the identity says it.
  public var participantSid: String
  /// Whom it is for, by identity; empty where the SID says it.
  public var participantIdentity: String
  /// All tracks, also those that are published later.
  public var allTracksAllowed: Bool
  /// These, where not all are allowed.
  public var allowedTrackSids: [Track.Sid]

  /// For one stay in the room.
  public init(participantSid: String, allTracksAllowed: Bool, allowedTrackSids: [Track.Sid] = []) {
    (self.participantSid, participantIdentity) = (participantSid, "")
    (self.allTracksAllowed, self.allowedTrackSids) = (allTracksAllowed, allowedTrackSids)
  }

  /// For whoever has that identity, now or later.
  public init(participantIdentity: String, allTracksAllowed: Bool, allowedTrackSids: [Track.Sid] = []) {
    (participantSid, self.participantIdentity) = ("", participantIdentity)
    (self.allTracksAllowed, self.allowedTrackSids) = (allTracksAllowed, allowedTrackSids)
  }
}

extension LocalParticipant {
  /// Changes what this participant is called for people. When it returns the server has taken it.
  /// - Parameter name: not empty, which the server would leave out.
  /// - Throws: `permissionDenied` where the token does not let it (canUpdateOwnMetadata), `invalidParameter` for what the
  ///   server finds too long, `invalidState` without a connection, `timedOut` where the server does not answer.
  public func set(name: String) async throws { try await update { $0.name = name } }

  /// Changes the metadata of this participant.
  /// - Parameter metadata: not empty, which the server would leave out.
  /// - Throws: as ``set(name:)``.
  public func set(metadata: String) async throws { try await update { $0.metadata = metadata } }

  /// Changes attributes of this participant: those that are named, and no others.
  /// - Parameter attributes: one with an empty text is removed.
  /// - Throws: as ``set(name:)``.
  public func set(attributes: [String: String]) async throws { try await update { $0.attributes = attributes } }

  private func update(_ fill: (inout Livekit_UpdateParticipantMetadata) -> Void) async throws(LiveKitError) {
    let session = try connectedSession()
    guard permissions.canUpdateMetadata else {
      throw LiveKitError(
        .permissionDenied,
        "the token does not allow to change name, metadata or attributes; ask for one with canUpdateOwnMetadata")
    }
    var change = Livekit_UpdateParticipantMetadata()
    fill(&change)
    try await session.update(change)
  }

  /// Says who may receive the tracks of this process; everybody until then, and again with `allParticipantsAllowed`. It holds
  /// for the connection, also when it is brought back.
  /// - Parameter trackPermissions: whoever is not named may receive nothing.
  /// - Throws: `invalidState` without a connection.
  public func setTrackSubscriptionPermissions(
    allParticipantsAllowed: Bool, trackPermissions: [ParticipantTrackPermission] = []
  ) async throws {
    var permission = Livekit_SubscriptionPermission()
    permission.allParticipants = allParticipantsAllowed
    permission.trackPermissions = trackPermissions.map { entry in
      var told = Livekit_TrackPermission()
      (told.participantSid, told.participantIdentity) = (entry.participantSid, entry.participantIdentity)
      (told.allTracks, told.trackSids) = (entry.allTracksAllowed, entry.allowedTrackSids)
      return told
    }
    try await connectedSession().allow(permission)
  }
}
