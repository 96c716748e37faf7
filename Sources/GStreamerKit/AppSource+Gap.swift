import CGStreamer

extension AppSource {
  /// Says that nothing comes, so that a multiplexer does not wait for this source. It holds until the next buffer, whose
  /// time does not matter.
  public func pushGap() { gst_element_send_event(shared.pointer, gst_event_new_gap(0, Self.years)) }

  /// As long as nothing that runs, in nanoseconds.
  private static let years: GstClockTime = 10 * 365 * 86_400 * 1_000_000_000
}
