public import MediaBridge

/// How the connection of an output with its live server goes.
public struct StreamStatus: Sendable, Equatable {
  /// Whether it is lost, and tried again.
  public var isReconnecting = false
  /// How often it was lost.
  public var losses = 0
  /// For how long in all; what came meanwhile was not sent.
  public var away: Duration = .zero
  /// Why it was lost, the last time.
  public var reason: LiveKitError?
  /// Whether the server has ever taken something for a second: one that refuses a stream may take a little first.
  public var wasTaken = false

  /// - Parameters:
  ///   - losses: how often it was lost.
  ///   - wasTaken: whether the server has ever taken something for a second.
  public init(
    isReconnecting: Bool = false, losses: Int = 0, away: Duration = .zero, reason: LiveKitError? = nil,
    wasTaken: Bool = false
  ) {
    (self.isReconnecting, self.losses) = (isReconnecting, losses)
    (self.away, self.reason, self.wasTaken) = (away, reason, wasTaken)
  }
}
