package import MediaPipelines

extension PixelSize {
  package init(_ size: Dimensions) { self.init(width: Int(size.width), height: Int(size.height)) }
}

extension Dimensions {
  package init(_ size: PixelSize) {
    self.init(width: Int32(clamping: size.width), height: Int32(clamping: size.height))
  }
}
