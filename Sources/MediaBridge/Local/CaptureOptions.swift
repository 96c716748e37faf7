import Foundation

/// How a camera is captured, by the template `capture/camera`.
public struct CameraCaptureOptions: Sendable, Hashable {
  /// On which side of a device a camera is: of phones, which Linux machines seldom are.
  public enum Position: Sendable, Hashable {
    /// Any.
    case unspecified
    /// Towards the person.
    case front
    /// Away from the person.
    case back
  }

  /// Chooses no camera, which `device` does: a view shows what is not from the back as in a mirror.
  public var position: Position
  /// The size that the camera is asked for; nil for what the template says.
  public var preferredFormat: Dimensions?
  /// The most frames a second; nil for what the template says.
  public var preferredFPS: Int?
  /// The camera's file, such as `/dev/video2`; nil for what the template says.
  public var device: String?
  /// The name of another capture template, such as `pattern`, which makes a test image.
  public var template: String
  /// Values for the template's variables, by name; they go before the options above.
  public var values: [String: String]

  /// Without arguments the first camera, as its template has it.
  public init(
    position: Position = .unspecified, preferredFormat: Dimensions? = nil, preferredFPS: Int? = nil,
    device: String? = nil, template: String = "camera", values: [String: String] = [:]
  ) {
    (self.position, self.preferredFormat, self.preferredFPS) = (position, preferredFormat, preferredFPS)
    (self.device, self.template, self.values) = (device, template, values)
  }

  var allValues: [String: String] {
    var all: [String: String] = [:]
    all["width"] = preferredFormat.map { String($0.width) }
    all["height"] = preferredFormat.map { String($0.height) }
    all["framerate"] = preferredFPS.map { "\($0)/1" }
    all["device"] = device
    return all.merging(values) { _, set in set }
  }
}

/// How a screen is captured, by the template `capture/screen` (X11) or, where the desktop is a Wayland one,
/// `capture/screen-portal`, with which the person there chooses what is seen; and its audio, by `capture/screen-audio`.
public struct ScreenShareCaptureOptions: Sendable, Hashable {
  /// The X display, such as `:0`, or the one that `WAYLAND_DISPLAY` names; nil for this session's desktop.
  public var display: String?
  /// The id of one window; nil for the whole screen.
  public var window: UInt?
  /// Frames a second; nil for what the template says.
  public var fps: Int?
  /// Whether the mouse is to be seen.
  public var showCursor: Bool
  /// Whether ``LocalParticipant/setScreenShare(enabled:captureOptions:publishOptions:)`` publishes what is heard, too: all
  /// that the default loudspeaker plays, with what a room plays in this process, since an X window has no audio of its own.
  public var appAudio: Bool
  /// The name of another capture template; nil for the one of this session's desktop, or of `display` and `window`.
  public var template: String?
  /// Values for the template's variables, by name; they go before the options above.
  public var values: [String: String]
  /// The name of another capture template for the audio.
  public var audioTemplate: String
  /// Values for that template's variables, by name: `device` is another loudspeaker's monitor.
  public var audioValues: [String: String]

  /// Without arguments the whole screen of this session, without its audio.
  public init(
    display: String? = nil, window: UInt? = nil, fps: Int? = nil, showCursor: Bool = true, appAudio: Bool = false,
    template: String? = nil, values: [String: String] = [:], audioTemplate: String = "screen-audio",
    audioValues: [String: String] = [:]
  ) {
    (self.display, self.window, self.fps, self.showCursor) = (display, window, fps, showCursor)
    (self.appAudio, self.template, self.values) = (appAudio, template, values)
    (self.audioTemplate, self.audioValues) = (audioTemplate, audioValues)
  }

  package var templateName: String { templateName(wayland: ScreenCapturer.waylandDisplay) }

  /// - Parameter wayland: the display of this session's desktop; nil where that is none of Wayland's.
  package func templateName(wayland: String?) -> String {
    if let template { return template }
    let isDesktop = window == nil && (display ?? wayland) == wayland
    return isDesktop && wayland != nil ? "screen-portal" : "screen"
  }

  package var allValues: [String: String] {
    // Another template may have neither.
    var all = showCursor ? [:] : ["pointer": "false"]
    all["display"] = display ?? (templateName == "screen" ? ScreenCapturer.display : nil)
    all["window"] = window.map { String($0) }
    all["framerate"] = fps.map { "\($0)/1" }
    return all.merging(values) { _, set in set }
  }
}

/// How a microphone is captured, by the template `capture/microphone`.
public struct AudioCaptureOptions: Sendable, Hashable {
  /// Take what the default loudspeaker of PulseAudio or PipeWire plays, whoever plays it, out of what is captured, by
  /// `capture/microphone-without-echo`.
  public var echoCancellation: Bool
  /// Take steady noise out.
  public var noiseSuppression: Bool
  /// Bring speech to one level.
  public var autoGainControl: Bool
  /// The name of another capture template, such as `tone`; nil for `microphone`, or `microphone-processed` or
  /// `microphone-without-echo` where any of the above is asked for.
  public var template: String?
  /// Values for the template's variables, by name; they go before the options above.
  public var values: [String: String]

  /// Without arguments the default microphone, as it is: a bridge has no loudspeaker in its room.
  public init(
    echoCancellation: Bool = false, noiseSuppression: Bool = false, autoGainControl: Bool = false,
    template: String? = nil, values: [String: String] = [:]
  ) {
    (self.echoCancellation, self.noiseSuppression) = (echoCancellation, noiseSuppression)
    (self.autoGainControl, self.template, self.values) = (autoGainControl, template, values)
  }

  private var isProcessed: Bool { echoCancellation || noiseSuppression || autoGainControl }

  var templateName: String {
    template
      ?? (echoCancellation ? "microphone-without-echo" : isProcessed ? "microphone-processed" : "microphone")
  }

  var allValues: [String: String] {
    guard template == nil, isProcessed else { return values }
    var own = ["noise": String(noiseSuppression), "gain": String(autoGainControl)]
    // Two microphones of a process must not find each other's.
    if echoCancellation { own["probe"] = "played-\(UInt64.random(in: 0 ... .max))" }
    return own.merging(values) { _, set in set }
  }
}

/// What is shared of a machine's desktop: a display, or one window of it.
public struct ScreenShareSource: Sendable, Hashable {
  /// The X display, such as `:0`, or that of a Wayland desktop.
  public var display: String
  /// The id of one window; nil for the whole display.
  public var window: UInt?

  /// - Parameter display: the X display, such as `:0`.
  public init(display: String, window: UInt? = nil) { (self.display, self.window) = (display, window) }
}

/// Finds what can be shared.
public enum ScreenCapturer {
  /// The display of this session; of a Wayland desktop the person there chooses what is seen.
  /// - Throws: `display` where neither `WAYLAND_DISPLAY` nor `DISPLAY` names one.
  public static func mainDisplaySource() async throws -> ScreenShareSource {
    guard let display = waylandDisplay ?? display else {
      throw LiveKitError(.display, "there is no display to share: neither WAYLAND_DISPLAY nor DISPLAY is set")
    }
    return ScreenShareSource(display: display)
  }

  static var display: String? { variable("DISPLAY") }
  /// Of a desktop of which an X client sees nothing.
  static var waylandDisplay: String? { variable("WAYLAND_DISPLAY") }

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// The page's name for the desktop.
public typealias MacOSScreenCapturer = ScreenCapturer

extension Dimensions {
  /// For ``CameraCaptureOptions/preferredFormat``.
  public static let preset640x480 = Dimensions(width: 640, height: 480)
  /// For ``CameraCaptureOptions/preferredFormat``.
  public static let preset1280x720 = Dimensions(width: 1280, height: 720)
  /// For ``CameraCaptureOptions/preferredFormat``.
  public static let preset1920x1080 = Dimensions(width: 1920, height: 1080)
  /// For ``CameraCaptureOptions/preferredFormat``.
  public static let preset3840x2160 = Dimensions(width: 3840, height: 2160)
}
