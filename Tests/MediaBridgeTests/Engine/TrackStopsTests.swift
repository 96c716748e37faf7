import BridgeTesting
import Logging
import MediaCore
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
    do { try await eventually("the end") { [closing] in await closing.areGone() } } catch { Issue.record(error) }
    #expect(closing.tracks.isEmpty)
  }

  /// A room is left all the same.
  @Test func whatHangsHoldsUpTheEndForAWhileOnly() async {
    var link = SessionLink(patience: .milliseconds(20))
    let transport = SubscriberTransport(
      MediaWays(), factory: PipelineFactory(folder: nil), latency: nil, loggers: Loggers())
    let reading = Task { for await _ in transport.events {} }
    let hung = Outcome<Void, Never>()
    transport.stops.begin(Ended(), "TR_1") { _ = await hung.result() }
    link.transport = transport
    let isGone = await link.beginClosing().value
    let unstopped = link.unstopped
    #expect(!isGone && unstopped == ["TR_1"])
    hung.settle(.success(()))
    // The transport ends then.
    await reading.value
  }

  @Test func whatHasEndedIsSeenWheneverOneLooks() async {
    let hung = Outcome<Void, Never>()
    let end = Outcome<Void, LiveKitError>.end { _ = await hung.result() }
    #expect(await !end.comes(by: .now + .milliseconds(20)))
    hung.settle(.success(()))
    #expect(await end.comes(by: .now + .seconds(60)))
    #expect(await end.comes(by: .now))
  }

  /// A session's end has one limit for all of it.
  @Test func whatEndsBesideOneAnotherIsWaitedForTogether() async throws {
    let hung = Outcome<Void, Never>()
    var ends = SessionEnds()
    ends.begin("camera") { _ = await hung.result() }
    ends.begin("playback") {}
    ends.begin("microphone") { _ = await hung.result() }
    try await eventually("the end of one") { [ends] in await ends.left(at: .now) == ["camera", "microphone"] }
    hung.settle(.success(()))
    try await eventually("the end of all") { [ends] in await ends.left(at: .now).isEmpty }
  }

  // MARK: A track that comes anew

  /// An offer of one track of audio.
  private static let offer = [
    "v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0",
    "a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))", "a=group:BUNDLE 0",
    "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", "a=setup:actpass", "a=mid:0", "a=ice-ufrag:abcd",
    "a=ice-pwd:0123456789abcdefghijkl", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2", "a=ssrc:1 cname:x",
    "a=ssrc:1 msid:PA_alice|TR_1 TR_1", "a=msid:PA_alice|TR_1 TR_1", "a=sendonly", "",
  ].joined(separator: "\r\n")

  /// Signalling goes on while what its SID stood for before is being stopped, and it begins behind that.
  @Test func aDecoderThatHangsHoldsUpNoAnswer() async throws {
    let transport = SubscriberTransport(
      MediaWays(), factory: PipelineFactory(folder: nil), latency: nil, loggers: Loggers())
    let (hung, changes) = (Outcome<Void, Never>(), Collector<Bool>())
    let reading = Task {
      for await event in transport.events { if case .mediaChanged = event { changes.add(true) } }
    }
    transport.stops.begin(Ended(), "TR_1") { _ = await hung.result() }
    let answers = Collector<String>()
    let answering = Task {
      answers.add(try await transport.answer(Self.offer, mids: ["0": "TR_1"], codecs: ["TR_1": ["audio/opus"]]))
    }
    do { try await eventually("the answer") { answers.count == 1 } } catch { Issue.record(error) }
    #expect(await transport.media.isEmpty && changes.count == 0)
    hung.settle(.success(()))
    do { try await eventually("the track") { await transport.media["TR_1"] != nil && changes.count == 1 } } catch {
      Issue.record(error)
    }
    try await answering.value
    await transport.close()
    await reading.value
  }

  /// The same of video, in one of two codecs.
  private static let video = offer.replacing("m=audio", with: "m=video").replacing("SAVPF 111", with: "SAVPF 96 98")
    .replacing(
      "a=rtpmap:111 opus/48000/2",
      with: "a=rtpmap:96 VP8/90000\r\na=rtpmap:98 VP9/90000\r\na=fmtp:98 profile-id=0")

  /// However often it is offered meanwhile, it is begun once, as it was offered last, and that it waits is told once.
  @Test func aTrackThatADecoderHoldsUpIsToldOf() async throws {
    let (hung, changes, lines) = (Outcome<Void, Never>(), Collector<Bool>(), Collector<String>())
    let transport = SubscriberTransport(
      MediaWays(), factory: PipelineFactory(folder: nil), latency: nil, loggers: Loggers(Logger(keeping: lines)),
      patience: .milliseconds(20))
    let reading = Task {
      for await event in transport.events { if case .mediaChanged = event { changes.add(true) } }
    }
    transport.stops.begin(Ended(), "TR_1") { _ = await hung.result() }
    _ = try await transport.answer(Self.video, mids: ["0": "TR_1"], codecs: ["TR_1": ["video/VP8"]])
    for _ in 0..<5 { await transport.learn(codecs: ["TR_1": ["video/VP9"]]) }
    @Sendable func told() -> [String] { lines.values.filter { $0.contains("TR_1") && $0.contains("hangs") } }
    do { try await eventually("the word of it") { !told().isEmpty } } catch { Issue.record(error) }
    hung.settle(.success(()))
    do { try await eventually("the track") { changes.count > 0 } } catch { Issue.record(error) }
    #expect(await transport.media["TR_1"]?.codec == "vp9")
    await transport.close()
    await reading.value
    #expect(told().count == 1 && changes.count == 1)
  }
}
