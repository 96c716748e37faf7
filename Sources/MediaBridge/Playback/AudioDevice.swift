import Foundation

/// Where on this machine audio can be played, as far as files tell: no sound server is asked, since one may not answer,
/// and on a machine without a device no sound library is even loaded.
package struct AudioDevice: Sendable {
  let environment: [String: String]
  /// The root of the file system.
  let root: String

  package static let ofProcess = AudioDevice(environment: ProcessInfo.processInfo.environment, root: "/")

  /// The sinks that may have a device, the best first, installed or not; empty when there is no device.
  package var sinks: [String] {
    var sinks: [String] = []
    if hasSoundServer { sinks.append("pulsesink") }
    if hasSoundCard { sinks.append("alsasink") }
    return sinks
  }

  /// PulseAudio's socket, which PipeWire has too (client.conf of PulseAudio, `default-server`).
  var hasSoundServer: Bool {
    if let server = environment["PULSE_SERVER"], !server.isEmpty { return true }
    let folders = [
      environment["PULSE_RUNTIME_PATH"], environment["XDG_RUNTIME_DIR"].map { "\($0)/pulse" },
      "\(root)/run/user/\(getuid())/pulse", "\(root)/run/pulse",
    ]
    return folders.compactMap { $0 }.contains { FileManager.default.fileExists(atPath: "\($0)/native") }
  }

  /// A playback device of ALSA: `pcmC0D0p` is device 0 of card 0.
  var hasSoundCard: Bool {
    let devices = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/dev/snd")) ?? []
    return devices.contains { $0.hasPrefix("pcm") && $0.hasSuffix("p") }
  }
}
