import BridgeTesting
import Foundation
import Testing

@testable import MediaBridge

/// What counts as an audio device, in machines made of a few files.
@Suite struct AudioDeviceTests {
  private func device(_ files: [String], _ environment: [String: String] = [:]) throws -> (AudioDevice, TemporaryFolder)
  {
    let root = try TemporaryFolder()
    for file in files {
      let path = "\(root.path)/\(file)"
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
    }
    let placed = environment.mapValues { $0.replacingOccurrences(of: "ROOT", with: root.path) }
    return (AudioDevice(environment: placed, root: root.path), root)
  }

  @Test func aMachineWithoutAudioHasNoSink() throws {
    let (device, folder) = try device(["dev/snd/timer", "dev/snd/pcmC0D0c"], ["XDG_RUNTIME_DIR": "ROOT/run/user/7"])
    defer { withExtendedLifetime(folder) {} }
    #expect(!device.hasSoundCard && !device.hasSoundServer && device.sinks == [])
  }

  @Test func aSoundServerIsKnownByItsSocket() throws {
    for (files, environment) in [
      (["run/user/7/pulse/native"], ["XDG_RUNTIME_DIR": "ROOT/run/user/7"]), (["run/pulse/native"], [:]),
      (["run/user/\(getuid())/pulse/native"], [:]), ([], ["PULSE_SERVER": "tcp:192.0.2.1"]),
    ] {
      let (device, folder) = try device(files, environment)
      defer { withExtendedLifetime(folder) {} }
      #expect(device.hasSoundServer && device.sinks == ["pulsesink"])
    }
  }

  @Test func aSoundCardIsKnownByAPlaybackDevice() throws {
    let (device, folder) = try device(["dev/snd/pcmC1D3p"])
    defer { withExtendedLifetime(folder) {} }
    #expect(device.hasSoundCard && !device.hasSoundServer && device.sinks == ["alsasink"])
  }
}
