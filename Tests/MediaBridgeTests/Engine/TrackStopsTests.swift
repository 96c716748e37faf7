import BridgeTesting
import MediaPipelines
import PeerTransport
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
    #expect(stops.sids == ["TR_1"])
    hung.settle(.success(()))
    for stop in stops.all { await stop.value }
    #expect(stops.all.isEmpty && stops.sids.isEmpty)
  }

  /// The server, too, is left at once.
  @Test func aDecoderThatHangsKeepsNoConnection() async {
    let transport = SubscriberTransport(
      MediaWays(), factory: PipelineFactory(folder: nil), latency: nil, loggers: Loggers())
    let (hung, states) = (Outcome<Void, Never>(), Collector<PeerState>())
    let reading = Task {
      for await event in transport.events { if case .state(let state) = event { states.add(state) } }
    }
    transport.stops.begin(Ended(), "TR_1") { _ = await hung.result() }
    let closing = Task { await transport.close() }
    do { try await eventually("the end of the connection") { states.values.last == .closed } } catch {
      Issue.record(error)
    }
    hung.settle(.success(()))
    await closing.value
    await reading.value
  }

  /// A session that is made behind one that does not end.
  @Test func whatHangsHoldsUpTheNextSessionForAWhileOnly() async {
    var closing = ClosingTransports(patience: .milliseconds(20))
    #expect(await closing.areGone())
    let (stops, hung, next) = (TrackStops(), Outcome<Void, Never>(), Outcome<Void, Never>())
    stops.begin(Ended(), "TR_1") { _ = await hung.result() }
    closing.add(stops) { for stop in stops.all { await stop.value } }
    #expect(await !closing.areGone())
    #expect(closing.tracks == ["TR_1"])
    // What is lost then is closed beside it.
    closing.add(nil) { next.settle(.success(())) }
    _ = await next.result()
    #expect(await !closing.areGone())
    #expect(closing.tracks == ["TR_1"])
    hung.settle(.success(()))
    await closing.untilGone()
    #expect(await closing.areGone())
    #expect(closing.tracks.isEmpty)
  }
}
