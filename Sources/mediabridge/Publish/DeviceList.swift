import Foundation
import MediaBridge

/// What `mediabridge publish --list-devices` prints.
enum DeviceList {
  static func print(_ console: Console) async throws {
    let devices = try await CaptureDevice.all()
    if devices.isEmpty {
      console.say("There is no camera (/dev/videoN), no sound server and no display (DISPLAY) on this machine")
    }
    for device in devices {
      console.say("\(device.kind.rawValue): \(device.name)")
      console.say("  mediabridge publish \(arguments(of: device))")
    }
    console.event(
      "devices",
      [
        "devices": devices.map {
          ["kind": $0.kind.rawValue, "name": $0.name, "id": $0.id, "arguments": arguments(of: $0)]
        }
      ])
  }

  /// How it is published.
  private static func arguments(of device: CaptureDevice) -> String {
    switch device.kind {
    case .camera: device.id
    case .screen: "screen=\(device.id)"
    case .microphone, .loudspeaker:
      ([device.template] + device.values.sorted { $0.key > $1.key }.map { "--set \($0.key)=\(quoted($0.value))" })
        .joined(separator: " ")
    }
  }

  private static func quoted(_ word: String) -> String {
    let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:=,".contains($0)) }
    return isPlain ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }
}
