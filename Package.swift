// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: a warning is an error, and a C type cannot slip into a public signature.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

func system(_ name: String, _ pkgConfig: String, _ debian: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debian])])
}

func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, resources: resources, swiftSettings: [.treatAllWarnings(as: .error)])
}

/// A program of `Examples`, for people to read and tests to run; no product, so that nobody else builds it.
func example(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["MediaBridge", "Egress", "ExampleSupport"], path: "Examples/\(name)",
    swiftSettings: strict)
}

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOHTTP1", package: "swift-nio"),
  .product(name: "NIOWebSocket", package: "swift-nio"),
]

let package = Package(
  name: "mediabridge",
  products: [
    .library(name: "MediaBridge", targets: ["MediaBridge"]),
    .library(name: "Egress", targets: ["Egress"]),
    .library(name: "MediaBridgeDesktop", targets: ["MediaBridgeDesktop"]),
    .executable(name: "mediabridge", targets: ["mediabridge-cli"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    system(
      "CGStreamer",
      "gio-unix-2.0 gstreamer-1.0 gstreamer-app-1.0 gstreamer-video-1.0 gstreamer-audio-1.0 gstreamer-rtp-1.0",
      "libgstreamer-plugins-base1.0-dev"),
    system("CNice", "nice", "libnice-dev"),
    system("COpenSSL", "openssl", "libssl-dev"),
    system("CSRTP", "libsrtp2", "libsrtp2-dev"),
    system("CUsrsctp", "usrsctp", "libusrsctp-dev"),
    .target(name: "CShims", dependencies: ["CGStreamer", "CNice", "COpenSSL", "CSRTP", "CUsrsctp"]),

    module("MediaCore"),
    module("Bitstream"),
    module("RTP", ["Bitstream", "MediaCore"]),
    module("SDP", ["MediaCore"]),
    module(
      "LiveKitProtocol",
      ["MediaCore", "COpenSSL", .product(name: "SwiftProtobuf", package: "swift-protobuf")], exclude: ["Protos"]),
    module("PipelineTemplates"),
    module(
      "PeerTransport",
      [
        "Bitstream", "MediaCore", "RTP", "SDP", "CNice", "COpenSSL", "CSRTP", "CUsrsctp", "CShims",
        .product(name: "Logging", package: "swift-log"),
      ]),
    module("SignalTransport", ["MediaCore", "LiveKitProtocol", "COpenSSL"] + nio),
    module("GStreamerKit", ["Bitstream", "MediaCore", "RTP", "CGStreamer", "CShims"]),
    module(
      "MediaPipelines",
      ["GStreamerKit", "MediaCore", "PipelineTemplates", .product(name: "Logging", package: "swift-log")]),
    module(
      "MediaBridge",
      [
        "Bitstream", "MediaCore", "RTP", "SDP", "LiveKitProtocol", "PipelineTemplates", "PeerTransport",
        "SignalTransport", "GStreamerKit", "MediaPipelines", .product(name: "Logging", package: "swift-log"),
      ]),
    module(
      "Egress",
      [
        "MediaBridge", "Bitstream", "MediaCore", "PipelineTemplates", "GStreamerKit", "MediaPipelines",
        .product(name: "Logging", package: "swift-log"), .product(name: "Yams", package: "Yams"),
      ]),
    // What a program that needs no desktop does without.
    module("MediaBridgeDesktop", ["MediaBridge", "MediaCore", "PipelineTemplates", "GStreamerKit", "MediaPipelines"]),
    // Senders for demo, tests and bench; apart from BridgeTesting, so that the program has no test code in it.
    module(
      "SyntheticParticipants",
      [
        "MediaBridge", "MediaCore", "Bitstream", "RTP", "SDP", "LiveKitProtocol", "PeerTransport", "SignalTransport",
        "GStreamerKit", "MediaPipelines", "PipelineTemplates", .product(name: "Logging", package: "swift-log"),
      ]),
    module(
      "DevServer",
      [
        "Bitstream", "MediaCore", "RTP", "SDP", "LiveKitProtocol", "PeerTransport",
        .product(name: "Logging", package: "swift-log"),
      ] + nio),
    .executableTarget(
      name: "mediabridge-cli",
      dependencies: [
        "MediaBridge", "Egress", "MediaBridgeDesktop", "SyntheticParticipants", "DevServer", "LiveKitProtocol",
        "MediaCore", "MediaPipelines", "GStreamerKit", "PipelineTemplates", "SignalTransport",
        "CShims",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"), .product(name: "Yams", package: "Yams"),
      ],
      path: "Sources/mediabridge",
      swiftSettings: strict,
      // LLVM's linker packs relocations, which are megabytes in a program with the Swift runtime inside, and each would
      // be read in at every start.
      linkerSettings: [
        .unsafeFlags(
          ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--icf=safe"],
          .when(configuration: .release))
      ]),
    .target(
      name: "BridgeTesting",
      dependencies: [
        "LiveKitProtocol", "MediaBridge", "SyntheticParticipants", "MediaCore", "DevServer", "GStreamerKit",
        "PeerTransport", "SignalTransport", "SDP", "RTP", .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    .target(name: "ExampleSupport", dependencies: ["MediaBridge"], path: "Examples/Support", swiftSettings: strict),
    example("CountFrames"), example("SaveSnapshots"), example("AudioLevels"), example("RecordParticipant"),
    example("Messages"),

    tests("MediaCoreTests", ["MediaCore"]),
    // What the fuzzer and the tests do to the parsers with one input.
    .target(
      name: "ParserExercises",
      dependencies: [
        "MediaCore", "Bitstream", "RTP", "SDP", "LiveKitProtocol", "PipelineTemplates",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ], path: "Tests/Fuzz/Exercises", swiftSettings: strict),
    tests(
      "FuzzTests", ["ParserExercises", "LiveKitProtocol", .product(name: "SwiftProtobuf", package: "swift-protobuf")]),
    tests("BitstreamTests", ["Bitstream", "ParserExercises"]),
    tests("RTPTests", ["RTP", "Bitstream", "MediaCore", "ParserExercises"]),
    tests("SDPTests", ["SDP", "ParserExercises"]),
    tests(
      "LiveKitProtocolTests",
      ["LiveKitProtocol", "MediaCore", .product(name: "SwiftProtobuf", package: "swift-protobuf")]),
    tests("PipelineTemplatesTests", ["PipelineTemplates", "ParserExercises"]),
    tests(
      "PeerTransportTests",
      ["PeerTransport", "BridgeTesting", "RTP", "SDP", "MediaCore", .product(name: "Logging", package: "swift-log")]),
    tests(
      "SignalTransportTests",
      [
        "SignalTransport", "BridgeTesting", "ParserExercises", "LiveKitProtocol", "MediaCore", "COpenSSL",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + nio),
    // The pages that the API comes from, as programs.
    tests(
      "SeedsTests", ["MediaBridge", "MediaBridgeDesktop", "BridgeTesting", "LiveKitProtocol", "MediaCore"]),
    tests("GStreamerKitTests", ["GStreamerKit", "BridgeTesting", "PipelineTemplates", "MediaCore", "CGStreamer"]),
    tests("MediaPipelinesTests", ["MediaPipelines", "GStreamerKit", "MediaCore"]),
    tests(
      "DevServerTests",
      ["DevServer", "BridgeTesting", "SignalTransport", "LiveKitProtocol", "PeerTransport", "SDP", "RTP", "MediaCore"]),
    tests(
      "EgressTests",
      [
        "Egress", "MediaBridge", "BridgeTesting", "SyntheticParticipants", "GStreamerKit", "MediaPipelines",
        "PipelineTemplates", "LiveKitProtocol", "MediaCore",
      ]),
    tests(
      "MediaBridgeTests",
      [
        "MediaBridge", "Egress", "MediaBridgeDesktop", "SyntheticParticipants", "BridgeTesting", "DevServer",
        "GStreamerKit",
        "PipelineTemplates", "PeerTransport", "MediaCore", "Bitstream", "RTP", "SDP", "ParserExercises",
        "SignalTransport", "LiveKitProtocol", "MediaPipelines", .product(name: "Logging", package: "swift-log"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// `make fuzz` sets this and builds in a folder of its own: one program more.
if Context.environment["MEDIABRIDGE_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["ParserExercises"], path: "Tests/Fuzz/Driver", swiftSettings: strict))
}

// BackgroundBlurVideoProcessor runs a network with OpenCV (libopencv-dnn-dev, libopencv-imgproc-dev), which is large: only
// who sets this has it.
if Context.environment["MEDIABRIDGE_OPENCV"] != nil {
  package.targets.append(
    .target(
      name: "CSegmentation", cxxSettings: [.unsafeFlags(["-I/usr/include/opencv4"])],
      linkerSettings: ["opencv_dnn", "opencv_imgproc", "opencv_core"].map { .linkedLibrary($0) }))
  for target in package.targets where target.name == "MediaBridge" {
    target.dependencies.append("CSegmentation")
    target.swiftSettings?.append(.define("MEDIABRIDGE_OPENCV"))
  }
}
