import CGStreamer
public import MediaCore

extension AppSource {
  /// Media that waits to be pushed with more of it.
  public struct Waiting: Sendable {
    /// Of any times.
    public let media: MediaBuffer
    /// When it is to be shown or heard.
    public let pts: MediaTime
    /// When it is to be decoded.
    public let dts: MediaTime

    /// With new times.
    public init(_ media: MediaBuffer, pts: MediaTime, dts: MediaTime) {
      (self.media, self.pts, self.dts) = (media, pts, dts)
    }
  }

  /// How many buffers may be pushed together: a small part of what may wait here, so that they are not what fills it.
  /// `Int.max` where any number may wait.
  public var batchLimit: Int {
    guard limits.bytes == 0 else { return 0 }
    return limits.buffers > 0 ? Int(clamping: limits.buffers / 8) : .max
  }

  /// As `fullness`, with so many buffers more.
  public func fullness(with more: Int) -> Double {
    limits.buffers > 0 ? min(fullness + Double(more) / Double(limits.buffers), 1) : fullness
  }

  /// Pushes media that is all of one format one after the other, as `push(_:pts:dts:discontinuity:updatingCaps:)` does,
  /// and wakes the pipeline's threads once.
  public func push(_ batch: [Waiting], updatingCaps: Bool) {
    var rest = batch[...]
    while let first = rest.first {
      // How frames are turned is told between those pushed before and those pushed after.
      let run = rest.prefix { $0.media.quarterTurns == first.media.quarterTurns }
      announce(first.media, updatingCaps: updatingCaps && rest.startIndex == 0)
      push(run)
      rest = rest.dropFirst(run.count)
    }
  }

  private func push(_ run: ArraySlice<Waiting>) {
    guard let list = gst_buffer_list_new_sized(guint(run.count)) else { return }
    var size = 0
    for waiting in run {
      guard let buffer = gst_buffer_copy(waiting.media.buffer) else { continue }
      Self.set(buffer, pts: waiting.pts, dts: waiting.dts, isDiscontinuous: waiting.media.isDiscontinuous)
      size += Int(gst_buffer_get_size(buffer))
      gst_buffer_list_insert(list, -1, buffer)
    }
    push(list, size: size)
  }
}
