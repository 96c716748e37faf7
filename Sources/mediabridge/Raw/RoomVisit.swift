/// How raw media comes into its room, and what ends it: the room is its own, or one that it shares with others.
struct RoomVisit: Sendable {
  let interruption: Interruption
  /// Returns when the room is joined.
  let join: @Sendable () async throws -> Void
  /// When nothing more is taken of the room.
  let leave: @Sendable () async -> Void
}

/// What hands raw media on, from its beginning to its end; called once.
typealias RawWork = @Sendable (RoomVisit) async throws -> Void
