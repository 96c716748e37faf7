import MediaBridge
import PipelineTemplates

extension JobDestination {
  /// What a destination is, with what looks after one of its kind.
  enum Sort: Sendable {
    /// Nil for what goes on in one file.
    case file(PartRotation?)
    case live(StreamLink)
    case window(WindowWatch)
  }
}

extension JobDestination.Sort {
  /// - Parameters:
  ///   - limit: how long a server may be away before that ends it.
  ///   - parts: how much each file holds; nil for one file.
  ///   - onClose: called when somebody has closed a window.
  init(
    _ destination: Destination, reconnectFor limit: Duration, parts: PartLimit?, _ breakage: Breakage,
    onClose: @escaping @Sendable () -> Void
  ) {
    if destination.isLive {
      self = .live(StreamLink(limit: limit) { breakage.note($0) })
    } else if destination.isWindow {
      self = .window(WindowWatch(onChange: onClose, onFailure: { breakage.note($0) }))
    } else {
      self = .file(parts.map(PartRotation.init))
    }
  }

  var link: StreamLink? { if case .live(let link) = self { link } else { nil } }
  var window: WindowWatch? { if case .window(let window) = self { window } else { nil } }
  var rotation: PartRotation? { if case .file(let rotation) = self { rotation } else { nil } }

  /// Opens a pipeline, and has it looked after.
  func open(
    _ maker: StageMaker, _ plan: OutputPlan, at destination: Destination, _ claim: FileClaim?, _ breakage: Breakage
  ) throws(LiveKitError) -> OutputStage {
    switch self {
    case .file:
      return try maker.make(plan, at: destination, claim: claim) { breakage.note($0) }
    case .live(let link):
      let turn = link.nextTurn()
      let stage = try maker.make(plan, at: destination, claim: claim) { [weak link] in link?.broke(turn, $0) }
      link.follow(stage, turn: turn)
      return stage
    case .window(let window):
      do throws(LiveKitError) { return try maker.make(plan, at: destination, claim: nil) { window.broke($0) } } catch {
        throw WindowWatch.refusal(error).about(destination)
      }
    }
  }

  /// Opens nothing any more when this returns.
  func stop() async {
    switch self {
    case .file(let rotation): await rotation?.stop()
    case .live(let link): await link.stop()
    case .window(let window): window.stop()
    }
  }
}
