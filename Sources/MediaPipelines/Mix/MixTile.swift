package import GStreamerKit
package import MediaCore
package import PipelineTemplates

/// A tile template at work in front of a mixer of frames: what goes in is seen at a place of the mixed frame.
package final class MixTile: Sendable {
  /// Where the frames go in.
  package let frames: FrameInput
  private let branch: MixerBranch
  /// Kept, for frames are watched no longer than it is.
  private let source: Element
  private let fitting: FrameFitting
  /// Where its corners are rounded.
  private let rounded = Locked<CornerRounding.Place?>(nil)
  typealias Step = @Sendable () -> Void
  /// What changes with its frames, from the first one on that is as late.
  private let fittings = Locked(MomentList<Step>())

  /// What is seen of a tile from one mixed frame on.
  package struct Change: Sendable {
    /// How long before that frame is mixed what stands still goes through the tile once more, for its new shape.
    static let lead = Duration.milliseconds(100)
    /// What came no later than so long before that frame stands still.
    fileprivate static let stillness = Duration.milliseconds(200)
    /// To be called so long before it.
    var prepare: Step = {}
    /// To be called between that frame and the one before.
    let apply: Step
  }

  /// Nothing is seen of it before `start()`.
  /// - Parameters:
  ///   - template: of the kind `tile`, with the appsrc `video`.
  ///   - mixed: whose mixer is called `videomix`.
  ///   - rounding: of its corners, wherever it is put to be rounded; nil for none.
  ///   - onFailure: told what goes wrong in the tile, which it is then to be removed for; nil where that is an error of all
  ///     that is mixed.
  package init(
    _ template: FilledTemplate, in mixed: Pipeline, rounding: CornerRounding? = nil,
    onFailure: (@Sendable (PipelineFailure) -> Void)? = nil
  ) throws(PipelineError) {
    branch = try mixed.addBranch(template, toMixer: MixPipeline.videoMixer)
    branch.tell(onFailure, in: template)
    let branch = branch
    do throws(PipelineError) {
      frames = FrameInput(into: try branch.appSource(named: "video"))
      source = try branch.element(named: "video")
    } catch {
      branch.remove()
      throw error
    }
    fitting = FrameFitting(overlayName: "label") { try? branch.element(named: $0) }
    do throws(PipelineError) { try fitFrames() } catch {
      branch.remove()
      throw error
    }
    guard let rounding else { return }
    branch.round(
      rounding, at: { [rounded] in rounded.withLock { $0 } },
      onMisfit: { caps in
        let what = "corners are rounded in I420, and what comes out is \(caps)"
        onFailure?(PipelineFailure(.template, "\(template.file): \(what)"))
      })
  }

  /// Calls `body` with the frames as they are mixed, on the streaming thread. Call it before `start()`, once, of a tile
  /// without corners.
  package func watchFrames(_ body: @escaping @Sendable (VideoFrameBuffer) -> Void) { branch.watchFrames(body) }

  package func start() { branch.start() }

  /// Writes over the frames; nil writes nothing.
  /// - Parameter isMuted: whether a mark behind the label says so.
  package func write(_ label: String?, isMuted: Bool = false) {
    fitting.write(label, isMuted: isMuted)
    frames.renewStandIn()
  }

  /// What people are told of who is seen here, from the next frame that comes on; nil for nothing. A template without the
  /// element `caption` shows none: see `FilledTemplate.checkCaption()`.
  package func show(label: String?) {
    if let caption = try? branch.element(named: Caption.element) {
      try? Caption.write(LabelText.shown(label ?? "", columns: Caption.tileColumns), over: caption)
    }
    frames.renewStandIn()
  }

  /// No element is told of another format while it agrees on one: none has a frame when one leaves the source.
  private func fitFrames() throws(PipelineError) {
    try source.beforeEachBuffer(at: "src") { [fittings] _, time in
      guard let time else { return }
      fittings.withLock { $0.due(at: time).last }?()
    }
  }

  /// From the next frame that is mixed on.
  /// - Parameters:
  ///   - level: a higher one is seen above a lower one; nil leaves it to when they came.
  ///   - isRounded: whether its corners are, with what is under all tiles beside them.
  package func put(at place: TilePlace, level: Int? = nil, isRounded: Bool = false) {
    frames.fill(place.size)
    // No element is told of another format while it agrees on one.
    frames.betweenFrames(fit(place, isRounded))
    branch.lay(place, level)
    // Of another shape it would leave the background beside it, and rounded corners have that of the place before.
    frames.renewStandIn()
  }

  /// From the first frame on that is mixed for a moment: frames that are shown for earlier ones are as they were.
  /// - Parameters:
  ///   - isSeen: whether it is, from then on.
  ///   - standIn: what is seen while it is muted; nil for what was.
  ///   - time: by `MixPipeline.frame(at:)`.
  /// - Returns: for `MixPipeline.change(_:at:)`.
  package func put(
    at place: TilePlace, level: Int, isRounded: Bool, isSeen: Bool = true, standIn: FrameInput.StandIn?,
    from time: MediaTime
  ) -> Change {
    let fit = fit(place, isRounded)
    fittings.withLock { $0.add(fit, from: time) }
    frames.change(place: place.size, standIn: standIn, at: time)
    return Change(
      prepare: { [frames] in frames.repeatNewest(at: time, after: Change.stillness) },
      apply: { [frames, fittings, branch] in
        // Of a tile that gets no frames none is taken out.
        fittings.withLock { $0.merge(at: time) }
        branch.lay(place, level)
        branch.setVisible(isSeen)
        // What comes now is too late for that frame.
        frames.repeatNewest(at: time)
      })
  }

  private func fit(_ place: TilePlace, _ isRounded: Bool) -> Step {
    { [fitting, rounded] in
      fitting.fit(into: place)
      rounded.withLock { $0 = isRounded ? CornerRounding.Place(place) : nil }
    }
  }

  /// Nothing is seen of it before a change that says where.
  package func hide() { branch.setVisible(false) }

  /// Nothing is seen of it any more.
  /// - Parameter onEnd: called once that is so, on a streaming thread; to return at once.
  /// - Returns: for `MixPipeline.change(_:at:)`.
  package func leave(_ onEnd: @escaping @Sendable () -> Void) -> Change {
    Change(apply: { [branch] in
      branch.setVisible(false)
      onEnd()
    })
  }

  /// Frames that nobody saw, since they waited too long to be mixed.
  package var dropped: Int { frames.dropped }

  /// - Returns: whether the tile has no thread left; false where an element of it hangs.
  @discardableResult
  package func remove() -> Bool { branch.remove() }

  /// Whether nothing is left of what was removed.
  package var hasStopped: Bool { branch.hasStopped }
}

extension CornerRounding.Place {
  fileprivate init(_ place: TilePlace) {
    self.init(x: place.x, y: place.y, width: place.width, height: place.height)
  }
}

extension Pipeline {
  /// Adds a template's branch, whose errors name its file and line.
  func addBranch(_ template: FilledTemplate, toMixer mixer: String) throws(PipelineError) -> MixerBranch {
    try addBranch(description: template.description, toMixer: mixer, locate: template.location(atOffset:))
  }
}

// A mixer without places is the template's own business.
extension MixerBranch {
  /// Where it is mixed.
  fileprivate func lay(_ place: TilePlace, _ level: Int?) {
    var properties = [
      ("xpos", "\(place.x)"), ("ypos", "\(place.y)"), ("width", "\(place.width)"), ("height", "\(place.height)"),
      // What is seen beside a frame of another shape is the background.
      ("sizing-policy", "keep-aspect-ratio"),
    ]
    if let level { properties.append(("zorder", "\(level)")) }
    for (property, value) in properties { try? setInput(property, to: value) }
  }

  /// What is not takes the mixer no time.
  fileprivate func setVisible(_ isVisible: Bool) { try? setInput("alpha", to: isVisible ? "1" : "0") }
}

extension MixerBranch {
  /// Tells what goes wrong in it, by the template's file and line.
  func tell(_ onFailure: (@Sendable (PipelineFailure) -> Void)?, in template: FilledTemplate) {
    guard let onFailure else { return }
    self.onFailure { onFailure(PipelineFailure($0, in: template)) }
  }
}
