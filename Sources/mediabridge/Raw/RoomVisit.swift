import Egress

/// How raw media comes into its room, and what ends it: the room is its own, or one that it shares with others.
struct RoomVisit: Sendable {
  let interruption: Interruption
  /// Returns when the room is joined.
  /// - Parameter abandon: gives back what was claimed, where an interruption ends the process before that.
  let join: @Sendable (_ abandon: @escaping @Sendable () async -> Void) async throws -> Void
  /// When nothing more is taken of the room.
  let leave: @Sendable () async -> Void
}

/// What hands raw media on.
struct RawWork: Sendable {
  /// What mixes the room, whose layout may change meanwhile; nil where it is not mixed.
  var composite: RoomComposite?
  /// From its beginning to its end; called once.
  let run: @Sendable (RoomVisit) async throws -> Void
}
