import Testing

@testable import MediaBridge

/// What has ended is stopped beside all else.
@Suite struct TrackStopsTests {
  private final class Ended: Sendable {}

  @Test func aDecoderThatHangsHoldsUpNobodyElse() async {
    let (stops, hung) = (TrackStops(), Outcome<Void, Never>())
    stops.begin(Ended(), "TR_1") { _ = await hung.result() }
    stops.begin(Ended(), "TR_2") {}
    await stops.ended("TR_2")?.value
    #expect(stops.ended("TR_2") == nil && stops.ended("TR_1") != nil && stops.all.count == 1)
    hung.settle(.success(()))
    for stop in stops.all { await stop.value }
    #expect(stops.all.isEmpty)
  }
}
