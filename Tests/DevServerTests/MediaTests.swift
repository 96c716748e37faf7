import BridgeTesting
import LiveKitProtocol
import MediaCore
import PeerTransport
import RTP
import SDP
import Testing

/// What comes out of what is published.
@Suite(.serialized) struct MediaTests {
  /// Numbers go up by one and timestamps never back, in the order of the numbers.
  private func expectOneStream(_ packets: [ReceivedPacket], _ location: SourceLocation = #_sourceLocation) {
    let sorted = packets.sorted { $0.sequence < $1.sequence }
    for (earlier, later) in zip(sorted, sorted.dropFirst()) {
      #expect(later.sequence == earlier.sequence + 1, sourceLocation: location)
      #expect(Int32(bitPattern: later.timestamp &- earlier.timestamp) > 0, sourceLocation: location)
    }
  }

  @Test func audioAndFramesArrive() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let audio = try await alice.publish(.audio("voice"))
      let frames = try await alice.publish(.video("camera"))
      try await eventually { bob.packets(of: audio).count > 20 && bob.packets(of: frames).count > 20 }
      #expect(bob.packets(of: frames).first?.isKeyframe == true)
      expectOneStream(bob.packets(of: frames))
      expectOneStream(bob.packets(of: audio))
      #expect(Set(bob.packets(of: audio).map(\.payloadType)) == [111])
      #expect(Set(bob.packets(of: frames).map(\.payloadType)) == [96])
      let tracks = try await bob.wait { log in
        log.participants["alice"].flatMap { $0.tracks.count == 2 ? $0.tracks : nil }
      }
      #expect(tracks.map(\.mimeType).sorted() == ["audio/opus", "video/VP8"])
      #expect(Set(tracks.map(\.sid)) == [audio, frames])
    }
  }

  /// The first offer then has the tracks, and the data channels behind them.
  @Test func whoJoinsLaterGetsWhatIsThere() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let sid = try await alice.publish(.video("camera"))
      let witness = try await RoomClient.join(server, as: "witness")
      try await eventually { witness.packets(of: sid).count > 2 }
      let bob = try await RoomClient.join(server, as: "bob")
      try await eventually { bob.packets(of: sid).count > 10 }
      let offers = bob.log.withLock { $0.offers }
      #expect(offers.first?.media.map(\.kind) == [.video, .application])
      #expect(offers.first?.media.first?.msid?.track == sid && offers.count == 1)
      #expect(bob.packets(of: sid).first?.isKeyframe == true)
    }
  }

  /// As of a LiveKit server, to which a packet says nothing of the time.
  @Test func thePublishersClockIsToldAloneAndOnlyOnceItIsKnown() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      let (late, early) = (try await alice.publish(.audio("late")), try await alice.publish(.video("early")))
      try await eventually { bob.packets(of: late).count > 5 && bob.packets(of: early).count > 5 }
      let noon = NTPTime(unixNanoseconds: 1_000_000_000_000_000_000)
      _ = await alice.with("early") { $0.tellClock(noon) }
      let told = try await eventually { bob.clocks(of: early).first }
      #expect((.zero..<Duration.seconds(5)).contains(told.since(noon)), "its clock goes on")
      #expect(bob.clocks(of: late).isEmpty)
    }
  }

  @Test func muteIsSeen() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      let sid = try await alice.publish(.audio("voice"))
      try await bob.wait { $0.participants["alice"]?.tracks.first?.muted == false }
      for isMuted in [true, false] {
        alice.send { request in
          request.mute.sid = sid
          request.mute.muted = isMuted
        }
        try await bob.wait { $0.participants["alice"]?.tracks.first?.muted == isMuted }
      }
    }
  }

  @Test func anUnpublishedTrackGoesAndItsSectionIsUsedAgain() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let first = try await alice.publish(.video("camera"))
      try await eventually { bob.packets(of: first).count > 2 }
      let source = try await bob.wait { $0.sources[first]?.media }
      try await alice.unpublish("camera")
      try await alice.wait { $0.unpublished == [first] }
      // As a LiveKit server does, so that clients of ours meet it in every test.
      try await bob.wait { log in
        let last = log.packets[source]?.suffix(6) ?? []
        return last.count == 6 && last.allSatisfy { $0.isBlank }
      }
      try await bob.wait { $0.participants["alice"]?.tracks.isEmpty == true && $0.sources.isEmpty }
      #expect(bob.log.withLock { $0.offers.last?.media.map(\.direction) } == [.sendrecv, .recvonly])
      let second = try await alice.publish(.video("screen"))
      try await eventually { bob.packets(of: second).count > 2 }
      #expect(first != second)
      #expect(try await bob.wait { $0.sources[second]?.media } != source)
      #expect(bob.log.withLock { $0.offers.last?.media.count } == 2)
    }
  }

  @Test func subscriptionsAreAskedForAndGivenUp() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob", autoSubscribe: false)
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera"))
      try await bob.wait { $0.participants["alice"]?.tracks.count == 1 }
      #expect(bob.log.withLock { $0.sources.isEmpty })
      func set(_ isSubscribed: Bool, _ sid: String) {
        bob.send { request in
          request.subscription.trackSids = [sid]
          request.subscription.subscribe = isSubscribed
        }
      }
      set(true, sid)
      try await eventually { bob.packets(of: sid).count > 2 }
      set(false, sid)
      try await bob.wait { $0.sources.isEmpty }
      set(true, sid)
      try await eventually { bob.packets(of: sid).count > 2 }
      set(true, "TR_nobody")
      let failure = try await bob.wait { $0.failures.first }
      #expect(failure.trackSid == "TR_nobody" && failure.err == .seTrackNotfound)
    }
  }

  @Test func aCodecThatTheSubscriberLacksIsSaid() async throws {
    try await RunningServer.with { server in
      var capabilities = MediaCapabilities.subscriber
      capabilities.video.formats = [.h264]
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob", capabilities: capabilities)
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera"))
      let failure = try await bob.wait { $0.failures.first }
      #expect(failure.trackSid == sid && failure.err == .seCodecUnsupported)
      try await bob.wait { $0.sources.isEmpty }
    }
  }

  @Test func permissionsHold() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let deaf = try await RoomClient.join(server, as: "deaf") { $0.canSubscribe = false }
      let bob = try await RoomClient.join(server, as: "bob") { $0.canPublish = false }
      let sid = try await alice.publish(.video("camera"))
      try await eventually { bob.packets(of: sid).count > 2 }
      #expect(bob.log.withLock { $0.join?.participant.permission.canPublishData } == false)
      try await deaf.wait { $0.participants["alice"]?.tracks.count == 1 }
      // As LiveKit's server: nothing is offered, and the client's own connection is the primary one.
      #expect(deaf.log.withLock { $0.offers.isEmpty && $0.join?.subscriberPrimary == false })
    }
  }

  // MARK: Layers

  private func layered(_ body: (RoomClient, RoomClient, String) async throws -> Void) async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera", layers: 3))
      try await eventually { bob.packets(of: sid).last?.layer == 2 }
      try await body(alice, bob, sid)
    }
  }

  @Test func aQualityChoosesTheLayer() async throws {
    try await layered { alice, bob, sid in
      for (quality, layer) in [(Livekit_VideoQuality.low, 0), (.medium, 1), (.high, 2)] {
        let before = await alice.with("camera") { $0.keyframeRequests[layer] ?? 0 } ?? 0
        bob.send { request in
          request.trackSetting.trackSids = [sid]
          request.trackSetting.quality = quality
        }
        try await eventually { bob.packets(of: sid).last?.layer == layer }
        let after = await alice.with("camera") { $0.keyframeRequests[layer] ?? 0 } ?? 0
        #expect(after > before)
      }
      let packets = bob.packets(of: sid)
      expectOneStream(packets)
      // Each change begins with a keyframe of its layer.
      let ordered = packets.sorted { $0.sequence < $1.sequence }
      for (earlier, later) in zip(ordered, ordered.dropFirst()) where earlier.layer != later.layer {
        #expect(later.isKeyframe)
      }
    }
  }

  @Test(arguments: [(180, 0), (198, 0), (240, 1), (360, 1), (400, 1), (720, 2), (2160, 2)])
  func aSizeChoosesTheLayer(height: Int, layer: Int) async throws {
    try await layered { _, bob, sid in
      bob.send { request in
        request.trackSetting.trackSids = [sid]
        request.trackSetting.width = UInt32(height * 16 / 9)
        request.trackSetting.height = UInt32(height)
      }
      // Another layer first, so that the highest one has to be chosen, too.
      if layer == 2 {
        bob.send { request in
          request.trackSetting.trackSids = [sid]
          request.trackSetting.quality = .low
        }
        try await eventually { bob.packets(of: sid).last?.layer == 0 }
        bob.send { request in
          request.trackSetting.trackSids = [sid]
          request.trackSetting.width = UInt32(height * 16 / 9)
          request.trackSetting.height = UInt32(height)
        }
      }
      try await eventually { bob.packets(of: sid).last?.layer == layer }
    }
  }

  @Test func aDisabledTrackPausesAndGoesOnWithAKeyframe() async throws {
    try await layered { alice, bob, sid in
      func setDisabled(_ isDisabled: Bool) {
        bob.send { request in
          request.trackSetting.trackSids = [sid]
          request.trackSetting.disabled = isDisabled
          request.trackSetting.quality = .high
        }
      }
      setDisabled(true)
      // The pause is certain when frames were made of which none came.
      try await eventually {
        let made = await alice.with("camera") { $0.newestNumber } ?? 0
        return made - (bob.packets(of: sid).last?.number ?? 0) > 10
      }
      let paused = bob.packets(of: sid)
      setDisabled(false)
      try await eventually { bob.packets(of: sid).count > paused.count + 5 }
      expectOneStream(bob.packets(of: sid))
      #expect(bob.packets(of: sid)[paused.count].isKeyframe)
    }
  }

  @Test func theQualityOffPauses() async throws {
    try await layered { alice, bob, sid in
      func ask(_ quality: Livekit_VideoQuality) {
        bob.send { request in
          request.trackSetting.trackSids = [sid]
          request.trackSetting.quality = quality
        }
      }
      ask(.off)
      try await eventually {
        let made = await alice.with("camera") { $0.newestNumber } ?? 0
        return made - (bob.packets(of: sid).last?.number ?? 0) > 10
      }
      let paused = bob.packets(of: sid)
      ask(.low)
      try await eventually { bob.packets(of: sid).count > paused.count + 5 }
      #expect(bob.packets(of: sid)[paused.count].isKeyframe)
    }
  }

  /// As a client does that lays out what it shows before it subscribes.
  @Test func settingsHoldAlthoughTheTrackIsNotSentYet() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob", autoSubscribe: false)
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera", layers: 3))
      try await bob.wait { $0.participants["alice"]?.tracks.count == 1 }
      bob.send { request in
        request.trackSetting.trackSids = [sid]
        request.trackSetting.quality = .low
      }
      bob.send { request in
        request.subscription.trackSids = [sid]
        request.subscription.subscribe = true
      }
      try await eventually { bob.packets(of: sid).count > 20 }
      #expect(bob.packets(of: sid).allSatisfy { $0.layer == 0 })
    }
  }

  /// 50 frames a second are sent, every other of which can be left out. To say nothing of a rate lifts no limit, as
  /// with LiveKit's server.
  @Test func theFrameRateThatIsAskedForComes() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera", hasTemporalLayers: true))
      try await eventually { bob.packets(of: sid).count > 20 }
      func ask(_ rate: UInt32) {
        bob.send { request in
          request.trackSetting.trackSids = [sid]
          request.trackSetting.quality = .high
          request.trackSetting.fps = rate
        }
      }
      for (rate, step) in [(UInt32(25), 2), (50, 1), (20, 2), (0, 2), (1000, 1)] {
        let before = bob.packets(of: sid).count
        ask(rate)
        try await eventually("\(rate) frames a second") {
          let packets = bob.packets(of: sid)
          let numbers = packets.suffix(10).map(\.number)
          return packets.count > before + 20 && zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 == step }
        }
      }
      expectOneStream(bob.packets(of: sid))
    }
  }

  @Test func aLayerThatStopsIsReplaced() async throws {
    try await layered { alice, bob, sid in
      _ = await alice.with("camera") { $0.setSending(false, layer: 2) }
      try await eventually { bob.packets(of: sid).last?.layer == 1 }
      _ = await alice.with("camera") { $0.setSending(true, layer: 2) }
      try await eventually { bob.packets(of: sid).last?.layer == 2 }
      expectOneStream(bob.packets(of: sid))
    }
  }

  @Test func anAdaptiveSubscriberBeginsWithTheSmallest() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      let carol = try await RoomClient.join(server, as: "carol", adaptiveStream: true)
      for client in [bob, carol] { try await client.wait { $0.channels.count == 2 } }
      let sid = try await alice.publish(.video("camera", layers: 3))
      try await eventually { bob.packets(of: sid).last?.layer == 2 }
      try await eventually { carol.packets(of: sid).count > 10 }
      #expect(carol.packets(of: sid).suffix(5).allSatisfy { $0.layer == 0 })
    }
  }

  // MARK: Repair

  @Test func theServerSendsAgainWhatASubscriberMisses() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera"))
      // As with LiveKit's server, what has just gone out is not asked for yet.
      try await eventually { bob.packets(of: sid).count > 20 }
      let source = try await bob.wait { log in log.sources[sid].flatMap { $0.rtx == nil ? nil : $0 } }
      let wanted = try #require(bob.packets(of: sid).dropFirst(3).first)
      let number = SequenceNumber(UInt16(truncatingIfNeeded: wanted.sequence))
      bob.subscriber.send([
        .nack(NegativeAcknowledgement(sender: SSRC(1), media: source.media, lost: [number]))
      ])
      let repair = try await bob.wait { log in source.rtx.flatMap { log.packets[$0]?.first } }
      #expect(repair.payloadType == 97)
      #expect(repair.payload == [UInt8(wanted.sequence >> 8 & 0xff), UInt8(wanted.sequence & 0xff)] + wanted.payload)
    }
  }

  @Test func theServerAsksForWhatItMisses() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera"))
      try await eventually { bob.packets(of: sid).count > 5 }
      let lost = await alice.with("camera") { publication in
        let next = publication.newestNumber + 3
        publication.lose(next..<next + 4)
        return next..<next + 4
      }
      let missing = Set(try #require(lost))
      try await eventually { missing.isSubset(of: bob.packets(of: sid).map(\.number)) }
      let repaired = await alice.with("camera") { $0.lostNumbersRequested } ?? 0
      #expect(repaired >= 4)
      expectOneStream(bob.packets(of: sid))
    }
  }

  @Test func aKeyframeIsPassedOn() async throws {
    try await RunningServer.with { server in
      let alice = try await RoomClient.join(server, as: "alice")
      let bob = try await RoomClient.join(server, as: "bob")
      try await bob.wait { $0.channels.count == 2 }
      let sid = try await alice.publish(.video("camera"))
      try await eventually { bob.packets(of: sid).count > 5 }
      let before = bob.packets(of: sid).filter(\.isKeyframe).count
      let media = try await bob.wait { $0.sources[sid]?.media }
      bob.subscriber.send([.pictureLossIndication(sender: SSRC(1), media: media)])
      try await eventually { bob.packets(of: sid).filter(\.isKeyframe).count > before }
    }
  }
}
