import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines

/// How frames are laid into a window.
struct FrameLook: Hashable, Sendable {
  var layoutMode = VideoView.LayoutMode.fill
  var mirrorMode = VideoView.MirrorMode.auto
  /// Goes before what the frames say.
  var rotation: VideoRotation?
  /// Of the camera of this process whose frames these are; nil for others.
  var camera: CameraCaptureOptions.Position?
}

/// A window with the way of frames into it.
final class ShownFrames: Sendable {
  let window: DisplayWindow
  let frames: FrameInput
  private let fitting: FrameFitting
  /// Elements that turn and flip frames; a template may do without.
  private let upright: Element?
  private let mirror: Element?
  private let rate = Locked(FrameRate())

  init(values: [String: String], factory: PipelineFactory) throws(LiveKitError) {
    window = try DisplayWindow(template: "window", values: values, factory: factory)
    let made = window.made
    frames = FrameInput(into: try LiveKitError.wrapping { () throws(PipelineFailure) in try made.source("video") })
    let pipeline = window.made.pipeline
    fitting = FrameFitting(overlayName: "debug") { try? pipeline.element(named: $0) }
    upright = try? pipeline.element(named: "upright")
    mirror = try? pipeline.element(named: "mirror")
  }

  /// The size that the template says; nil when it says none.
  var size: Dimensions? { fitting.size.map(Dimensions.init) }

  /// - Parameter size: the window's; nil when it is not known.
  func lay(out look: FrameLook, in size: Dimensions?) {
    if let size { fitting.fit(into: PixelSize(size), TilePlace.Fit(look.layoutMode)) }
    upright?.turn(look.rotation?.direction ?? "auto")
    mirror?.turn(look.mirrorMode.mirrors(look.camera) ? "horiz" : "identity")
    // What was on its way meanwhile may be lost, and of black there is one frame only.
    frames.renewStandIn()
  }

  func show(_ frame: VideoFrame, isDebugged: Bool) {
    if isDebugged, let rate = rate.withLock({ $0.count(at: .now) }) {
      fitting.write("\(frame.dimensions), \(rate) fps")
    }
    frames.show(frame.buffer)
  }

  func stopDebugging() { fitting.write(nil) }
}

extension Element {
  /// Has a `videoflip` negotiate anew only where it is to turn frames otherwise.
  fileprivate func turn(_ direction: String) {
    if string("video-direction") != direction { try? set("video-direction", to: direction) }
  }
}

extension VideoRotation {
  /// In the words of `videoflip`.
  fileprivate var direction: String {
    switch self {
    case ._0: "identity"
    case ._90: "90r"
    case ._180: "180"
    case ._270: "90l"
    }
  }
}
