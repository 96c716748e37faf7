import GStreamerKit
import MediaCore
import MediaPipelines
import RTP

/// Hands a track's packets to its pipeline, in their order where the pipeline leaves that to us, and follows how long a
/// lost packet is worth waiting for. Lives on the transport's loop.
final class PipelineFeed {
  let pipeline: ReceivePipeline
  /// When the moment of an RTP timestamp is.
  private let clock: (UInt32) -> MediaTime?
  /// Nil where the pipeline puts packets in order.
  private var sequencer: PacketSequencer?
  /// For a lost packet; nil where nothing waits.
  private var wait: RepairWait?
  // Kept for their memory.
  private var ready: [ArrivedPacket] = []
  private var outgoing: [AppSource.Packet] = []

  init(_ pipeline: ReceivePipeline, clock: @escaping (UInt32) -> MediaTime?) {
    self.pipeline = pipeline
    self.clock = clock
    sequencer = pipeline.takesSequence ? PacketSequencer() : nil
    wait = pipeline.longestWait.map(RepairWait.init(limit:))
    if let wait { pipeline.wait(for: wait.current) }
  }

  /// Takes packets that came together, in the order in which they came.
  func push(_ packets: [ArrivedPacket]) {
    for arrived in packets {
      if sequencer?.insert(arrived, into: &ready) == nil { ready.append(arrived) }
    }
    pushReady()
  }

  /// The sender counts from somewhere else.
  func restart() {
    sequencer?.restart(into: &ready)
    pushReady()
  }

  /// When a missing packet will have been waited for long enough.
  var nextDeadline: MediaTime? { sequencer?.deadline(wait: waitTime) }

  /// Goes on without packets that were waited for long enough.
  /// - Parameter repairTime: how long a retransmission may take; nil where that is not known.
  func poll(at time: MediaTime, repairTime: Duration?) {
    if let new = wait?.follow(repairTime) { pipeline.wait(for: new) }
    while let gap = sequencer?.skip(at: time, wait: waitTime, into: &ready) {
      tell(gap)
      pushReady()
    }
  }

  /// How long a lost packet is waited for now.
  var waitTime: Duration { wait?.current ?? .zero }

  private func pushReady() {
    guard !ready.isEmpty else { return }
    var last: (timestamp: UInt32, time: MediaTime)?
    for arrived in ready {
      let timestamp = arrived.packet.timestamp
      let time = last.flatMap { $0.timestamp == timestamp ? $0.time : nil } ?? place(arrived)
      // How a frame is turned is told between two pushes.
      if pipeline.tellsTurns, let last, last.timestamp != timestamp { pushOutgoing() }
      last = (timestamp, time)
      outgoing.append(AppSource.Packet(arrived.packet, at: time))
    }
    ready.removeAll(keepingCapacity: true)
    pushOutgoing()
  }

  private func pushOutgoing() {
    pipeline.push(outgoing)
    outgoing.removeAll(keepingCapacity: true)
  }

  /// A pipeline that puts packets in order places them, too: it wants to know when they came.
  private func place(_ arrived: ArrivedPacket) -> MediaTime {
    sequencer == nil ? arrived.time : clock(arrived.packet.timestamp) ?? arrived.time
  }

  /// More than a decoder makes up for.
  private static let longestGap = 50

  private func tell(_ gap: PacketSequencer.Gap) {
    guard gap.count <= Self.longestGap, let before = clock(gap.timestamps.before),
      let behind = clock(gap.timestamps.behind)
    else { return }
    let step = (behind - before) / (gap.count + 1)
    for index in 0..<gap.count { pipeline.skip(gap.first + index, at: before + step * (index + 1), duration: step) }
  }
}

extension AppSource.Packet {
  fileprivate init(_ packet: RTPPacket, at time: MediaTime) {
    self.init(packet.buffer, start: packet.start, count: packet.count, dts: time)
  }
}
