/// What a track has to say to its connection.
struct TrackHooks: Sendable {
  /// Passes an event to the room.
  let tell: @Sendable (RoomEvent) -> Void
  /// The track's renderers, or what they need, have changed. Called on any thread.
  let demandChanged: @Sendable (Track) -> Void
  /// A renderer of ours shows the track no more. Called on any thread.
  let failed: @Sendable (Track, LiveKitError) -> Void
}

/// `@unchecked Sendable`: carries a renderer to where it is called; the protocols promise media threads and the main
/// actor, so the renderer's author owns its thread safety.
struct Unchecked<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
