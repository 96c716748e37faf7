import Foundation
import GStreamerKit

/// A camera, a microphone, a loudspeaker or a screen of this machine, from which a local track can be made.
public struct CaptureDevice: Sendable, Hashable {
  /// What it gives.
  public enum Kind: String, Sendable {
    /// Video (V4L2), by ``CameraCaptureOptions/device``.
    case camera
    /// Audio.
    case microphone
    /// Audio: what a loudspeaker of this machine plays.
    case loudspeaker
    /// Video: an X display, by ``ScreenShareCaptureOptions/display``, or the desktop, where the person chooses.
    case screen
  }

  /// What it gives.
  public var kind: Kind
  /// As people know it.
  public var name: String
  /// The camera's file, the sound server's name, or the display of X or Wayland.
  public var id: String
  /// The capture template that opens it, and the values with which it does.
  public var template: String
  /// Of the template's variables.
  public var values: [String: String]

  /// All that there are now; none where there is no device, and no sound server and no display.
  /// - Throws: `pipeline` where GStreamer cannot start.
  public static func all() async throws -> [CaptureDevice] {
    let found = await Task.detached { Result { () throws(PipelineError) in try DeviceMonitor.sources() } }.value
    guard case .success(let devices) = found else {
      throw LiveKitError(.pipeline, "GStreamer cannot start, without which no device is found")
    }
    return devices.compactMap(CaptureDevice.init) + screens
  }

  private static var screens: [CaptureDevice] {
    let desktop = ScreenCapturer.waylandDisplay.map {
      CaptureDevice(
        kind: .screen, name: "this desktop, of which you choose a screen or a window", id: $0,
        template: "screen-portal", values: [:])
    }
    let display = ScreenCapturer.display.map {
      CaptureDevice(kind: .screen, name: "X display \($0)", id: $0, template: "screen", values: ["display": $0])
    }
    return [desktop, display].compactMap(\.self)
  }

  private init(kind: Kind, name: String, id: String, template: String, values: [String: String]) {
    (self.kind, self.name, self.id, self.template, self.values) = (kind, name, id, template, values)
  }

  /// Nil for what no capture template opens.
  init?(_ device: Device) {
    guard let id = device.device else { return nil }
    if device.classes.contains("Video"), device.element == "v4l2src" {
      self.init(kind: .camera, name: device.name, id: id, template: "camera", values: ["device": id])
    } else if device.classes.contains("Audio"), device.isMonitor {
      self.init(
        kind: .loudspeaker, name: device.name, id: id, template: "screen-audio",
        values: ["source": device.element, "device": id])
    } else if device.classes.contains("Audio") {
      self.init(
        kind: .microphone, name: device.name, id: id, template: "microphone-device",
        values: ["source": device.element, "device": id])
    } else {
      return nil
    }
  }
}

/// Finds cameras.
public enum CameraCapturer {
  /// The cameras of this machine, for ``CameraCaptureOptions/device``.
  /// - Throws: `pipeline` where GStreamer cannot start.
  public static func captureDevices() async throws -> [CaptureDevice] {
    try await CaptureDevice.all().filter { $0.kind == .camera }
  }
}
