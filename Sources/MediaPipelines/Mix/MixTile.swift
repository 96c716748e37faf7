package import GStreamerKit
import MediaCore
package import PipelineTemplates

/// A tile template at work in front of a mixer of frames: what goes in is seen at a place of the mixed frame.
package final class MixTile: Sendable {
  /// Where the frames go in.
  package let frames: FrameInput
  private let branch: MixerBranch
  private let fitting: FrameFitting
  /// Where its corners are rounded.
  private let rounded = Locked<CornerRounding.Place?>(nil)

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
    do throws(PipelineError) { frames = FrameInput(into: try branch.appSource(named: "video")) } catch {
      branch.remove()
      throw error
    }
    fitting = FrameFitting(overlayName: "label") { try? branch.element(named: $0) }
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

  /// From the next frame that is mixed on.
  /// - Parameters:
  ///   - level: a higher one is seen above a lower one; nil leaves it to when they came.
  ///   - isRounded: whether its corners are, with what is under all tiles beside them.
  package func put(at place: TilePlace, level: Int? = nil, isRounded: Bool = false) {
    frames.fill(place.size)
    // No element is told of another format while it agrees on one.
    frames.betweenFrames { [fitting, rounded] in
      fitting.fit(into: place)
      rounded.withLock { $0 = isRounded ? CornerRounding.Place(place) : nil }
    }
    var properties = [
      ("xpos", "\(place.x)"), ("ypos", "\(place.y)"), ("width", "\(place.width)"), ("height", "\(place.height)"),
      // What is seen beside a frame of another shape is the background.
      ("sizing-policy", "keep-aspect-ratio"),
    ]
    if let level { properties.append(("zorder", "\(level)")) }
    // A mixer without places is the template's own business.
    for (property, value) in properties { try? branch.setInput(property, to: value) }
    // Of another shape it would leave the background beside it, and rounded corners have that of the place before.
    frames.renewStandIn()
  }

  /// Frames that nobody saw, since they waited too long to be mixed.
  package var dropped: Int { frames.dropped }

  /// When it returns the tile has no thread left.
  package func remove() { branch.remove() }
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

extension MixerBranch {
  /// Tells what goes wrong in it, by the template's file and line.
  func tell(_ onFailure: (@Sendable (PipelineFailure) -> Void)?, in template: FilledTemplate) {
    guard let onFailure else { return }
    self.onFailure { onFailure(PipelineFailure($0, in: template)) }
  }
}
