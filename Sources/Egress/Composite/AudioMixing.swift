import MediaPipelines

/// Into which channels the participants of a composite are mixed, by the names of LiveKit Egress.
public enum AudioMixing: String, CaseIterable, Sendable {
  /// All into both.
  case defaultMixing = "default"
  /// Agents left, all others right.
  case dualChannelAgent = "dual-channel-agent"
  /// The first who came left, the next right, and so on.
  case dualChannelAlternate = "dual-channel-alternate"
}

/// Who is heard in which channel. Pure.
struct ChannelPlan {
  private let mixing: AudioMixing
  /// Who comes back is heard where they were.
  private var known: [String: MixVoice.Channel] = [:]

  init(_ mixing: AudioMixing) { self.mixing = mixing }

  /// Asked in the order in which they came.
  mutating func channel(of identity: String, isAgent: Bool) -> MixVoice.Channel {
    switch mixing {
    case .defaultMixing: return .both
    case .dualChannelAgent: return isAgent ? .left : .right
    case .dualChannelAlternate:
      let channel = known[identity] ?? (known.count.isMultiple(of: 2) ? .left : .right)
      known[identity] = channel
      return channel
    }
  }
}
