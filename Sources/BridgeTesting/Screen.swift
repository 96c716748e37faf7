public import Foundation
public import MediaBridge
public import MediaCore

/// A renderer whose size and visibility a test sets.
public final class Screen: VideoRenderer, Sendable {
  @MainActor public var isAdaptiveStreamEnabled = true
  @MainActor public var isVisible = true
  @MainActor public var adaptiveStreamSize: CGSize
  @MainActor public var adaptiveStreamFPS: UInt = 0
  /// Of the frames that were shown.
  public let frames = Locked<[Dimensions]>([])
  /// That it was told.
  @MainActor public private(set) var sizes: [CGSize] = []

  @MainActor public init(_ size: CGSize = .zero) { adaptiveStreamSize = size }
  @MainActor public convenience init(_ width: Int, _ height: Int) { self.init(CGSize(width: width, height: height)) }
  @MainActor public func set(size: CGSize) { sizes.append(size) }
  public func render(frame: VideoFrame) { frames.withLock { $0.append(frame.dimensions) } }
}
