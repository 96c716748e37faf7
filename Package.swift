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

let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOHTTP1", package: "swift-nio"),
  .product(name: "NIOWebSocket", package: "swift-nio"),
  .product(name: "NIOSSL", package: "swift-nio-ssl"),
]

let package = Package(
  name: "mediabridge",
  products: [
    .library(name: "MediaBridge", targets: ["MediaBridge"]),
    .executable(name: "mediabridge", targets: ["mediabridge-cli"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    system(
      "CGStreamer", "gstreamer-1.0 gstreamer-app-1.0 gstreamer-video-1.0 gstreamer-audio-1.0",
      "libgstreamer-plugins-base1.0-dev"),
    system("CNice", "nice", "libnice-dev"),
    system("COpenSSL", "openssl", "libssl-dev"),
    system("CSRTP", "libsrtp2", "libsrtp2-dev"),
    system("CUsrsctp", "usrsctp", "libusrsctp-dev"),
    .target(name: "CShims", dependencies: ["CGStreamer", "CNice", "COpenSSL", "CSRTP", "CUsrsctp"]),

    module("MediaCore"),
    module("RTP", ["MediaCore"]),
    module("SDP", ["MediaCore"]),
    module(
      "LiveKitProtocol",
      [
        "MediaCore",
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        .product(name: "JWTKit", package: "jwt-kit"),
      ], exclude: ["Protos"]),
    module("PipelineTemplates"),
    module("PeerTransport", ["MediaCore", "RTP", "SDP", "CNice", "COpenSSL", "CSRTP", "CUsrsctp", "CShims"]),
    module("SignalTransport", ["MediaCore", "LiveKitProtocol", .product(name: "Logging", package: "swift-log")] + nio),
    module("GStreamerKit", ["MediaCore", "CGStreamer", "CShims"]),
    module(
      "MediaBridge",
      [
        "MediaCore", "RTP", "SDP", "LiveKitProtocol", "PipelineTemplates", "PeerTransport", "SignalTransport",
        "GStreamerKit", .product(name: "Logging", package: "swift-log"),
      ]),
    module(
      "DevServer",
      [
        "MediaCore", "RTP", "SDP", "LiveKitProtocol", "PeerTransport", .product(name: "Logging", package: "swift-log"),
      ] + nio),
    .executableTarget(
      name: "mediabridge-cli",
      dependencies: [
        "MediaBridge", "DevServer", "LiveKitProtocol", "PipelineTemplates",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
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
      name: "BridgeTesting", dependencies: ["MediaCore", "RTP", "SDP", "PeerTransport", "MediaBridge", "DevServer"],
      swiftSettings: strict),

    tests("MediaCoreTests", ["MediaCore"]),
    tests("RTPTests", ["RTP", "MediaCore"]),
    tests("SDPTests", ["SDP"]),
    tests("LiveKitProtocolTests", ["LiveKitProtocol"]),
    tests("PipelineTemplatesTests", ["PipelineTemplates"]),
    tests("PeerTransportTests", ["PeerTransport", "RTP", "SDP", "MediaCore"]),
    tests("SignalTransportTests", ["SignalTransport", "LiveKitProtocol"] + nio),
    tests("GStreamerKitTests", ["GStreamerKit", "PipelineTemplates", "MediaCore"]),
    tests(
      "DevServerTests", ["DevServer", "SignalTransport", "LiveKitProtocol", "PeerTransport", "SDP", "RTP", "MediaCore"]),
    tests("MediaBridgeTests", ["MediaBridge", "BridgeTesting", "DevServer", "MediaCore", "RTP"]),
  ],
  swiftLanguageModes: [.v6]
)
